/// The real client behind the scheduler's port.
struct ClientPort: SchedulerClient {
    private let client: KizunaSyncClient

    init(_ client: KizunaSyncClient) { self.client = client }

    func sync(asksReads: Bool) async throws { try await client.engine().sync(asksReads: asksReads) }

    func outboxDepth() async throws -> Int { try await client.outboxDepth() }

    func subscribe(
        _ handler: @escaping @Sendable (SchedulerClientEvent) -> Void
    ) async throws -> SchedulerSubscription {
        let subscription = try client.engine().events.subscribe { event in
            switch event {
            case .queueDepth(let depth): handler(.queueDepth(depth))
            case .engineReplaced: handler(.engineReplaced)
            default: break
            }
        } onEnd: {
            handler(.closed)
        }
        return SchedulerSubscription { subscription.cancel() }
    }
}
