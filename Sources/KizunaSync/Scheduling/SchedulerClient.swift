/// What the scheduler needs of the client it drives.
package protocol SchedulerClient: Sendable {
    /// Sends what waits, and where wanted, asks for what others changed; the default of the scheduler's `sync`.
    func sync(asksReads: Bool) async throws

    /// How many writes wait for the server.
    func outboxDepth() async throws -> Int

    /// Tells what happens in the client's present engine until the subscription is cancelled or the engine is replaced.
    ///
    /// Throws where there is no engine yet.
    func subscribe(
        _ handler: @escaping @Sendable (SchedulerClientEvent) -> Void
    ) async throws -> SchedulerSubscription
}

/// What the client tells its scheduler.
package enum SchedulerClientEvent: Sendable, Equatable {
    /// So many writes wait for the server.
    case queueDepth(Int)
    /// `create(_:)` was called again: this subscription is over.
    case engineReplaced
    /// The client was closed: this subscription is over, and one can be made after the next `create(_:)`.
    case closed
}

/// A subscription to a client's events.
package struct SchedulerSubscription: Sendable {
    private let onCancel: @Sendable () -> Void

    package init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

    package func cancel() { onCancel() }
}
