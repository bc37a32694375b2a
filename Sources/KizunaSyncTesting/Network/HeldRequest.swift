public import KizunaCore

/// A request whose answer waits until the test gives it.
///
/// The first of `respond(_:)`, `fail(_:)`, the request's time-out and the caller's cancellation counts; whatever comes
/// later does nothing.
public struct HeldRequest: Sendable {
    /// What was sent.
    public let request: WireRequest
    /// The virtual time at which it was sent.
    public let sentAt: Duration

    let pending: PendingResponse

    /// Whether nobody waits for an answer any more: answered, failed, timed out or cancelled.
    public var isSettled: Bool { pending.isSettled }

    /// Gives the caller this answer; answers false where it came too late.
    @discardableResult
    public func respond(_ response: WireResponse) -> Bool {
        pending.settle(.success(response))
    }

    /// Fails the caller with this failure; answers false where it came too late.
    @discardableResult
    public func fail(_ failure: WireFailure) -> Bool {
        pending.settle(.failure(failure))
    }
}
