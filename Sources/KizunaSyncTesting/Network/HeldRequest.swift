public import KizunaCore

/// A request that waits until the test responds.
///
/// The first of `respond(_:)`, `fail(_:)`, the request's timeout and the caller's cancellation counts; the others have
/// no effect.
public struct HeldRequest: Sendable {
    /// The request.
    public let request: WireRequest
    /// The virtual time of sending.
    public let sentAt: Duration

    let pending: PendingResponse

    /// Whether the request has ended: with a response, a failure, a timeout or a cancellation.
    public var isSettled: Bool { pending.isSettled }

    /// Responds to the caller; returns false if the request has ended.
    @discardableResult
    public func respond(_ response: WireResponse) -> Bool {
        pending.settle(.success(response))
    }

    /// Fails the request; returns false if it has ended.
    @discardableResult
    public func fail(_ failure: WireFailure) -> Bool {
        pending.settle(.failure(failure))
    }
}
