import KizunaCore
import KizunaSync
import Observation
import Testing

/// The observable model, on the real main actor.
@MainActor @Suite struct SyncHealthTests {
    private func scheduler(_ client: FakeSchedulerClient) -> KizunaSyncScheduler {
        KizunaSyncScheduler(
            ports: SchedulerRunner.Ports(client: client),
            assigned: SchedulerAssignments(pollInterval: 0, monitorPath: true, refreshSession: .plain { true }),
            environment: .live())
    }

    /// Goes on when the model's health has changed.
    private func change(of model: SyncHealth) async {
        await withCheckedContinuation { continuation in
            withObservationTracking {
                _ = model.health
            } onChange: {
                continuation.resume()
            }
        }
        await Task.yield()
    }

    @Test(.timeLimit(.minutes(1))) func theModelFollowsTheLoop() async {
        let client = FakeSchedulerClient()
        let scheduler = scheduler(client)
        let model = SyncHealth(scheduler)
        #expect(model.health == scheduler.health())
        client.outcome = { throw SyncError(.connectivity, "x") }
        scheduler.wake()
        while model.health.phase != .backoff { await change(of: model) }
        #expect(model.health.lastError?.code == "connectivity")
        #expect(model.health == scheduler.health())
    }

    @Test(.timeLimit(.minutes(1))) func aModelThatIsLetGoOfEndsItsObservation() async {
        let scheduler = scheduler(FakeSchedulerClient())
        weak var gone: SyncHealth?
        do {
            let model = SyncHealth(scheduler)
            gone = model
            #expect(gone != nil)
        }
        while gone != nil { await Task.yield() }
        #expect(await scheduler.run())
    }
}
