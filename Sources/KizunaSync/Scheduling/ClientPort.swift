internal import KizunaCore

/// The real client behind the scheduler's port.
struct ClientPort: SchedulerClient {
    private let client: KizunaSyncClient

    init(_ client: KizunaSyncClient) { self.client = client }

    func sync() async throws {
        throw SyncError(.engineUnavailable, "x")
    }

    func outboxDepth() async throws -> Int {
        0
    }

    func subscribe(
        _ handler: @escaping @Sendable (SchedulerClientEvent) -> Void
    ) async throws -> SchedulerSubscription {
        throw SyncError(.engineUnavailable, "x")
    }
}
