import KizunaCore
import KizunaSync
import KizunaSyncTesting
import KizunaTransport
import Synchronization
import Testing

/// Background runs under the system's deadline.
@Suite struct BackgroundDrainTests {
    private final class FakeGrant: BackgroundGrant {
        private let state = Mutex<(expire: (@Sendable () -> Void)?, responses: [Bool])>((nil, []))

        var responses: [Bool] { state.withLock { $0.responses } }
        func onExpiration(_ handler: @escaping @Sendable () -> Void) { state.withLock { $0.expire = handler } }
        func complete(isFinished: Bool) { state.withLock { $0.responses.append(isFinished) } }
        func expire() { state.withLock { $0.expire }?() }
    }

    @Test func aRunThatLeavesNothingHasFinished() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            let grant = FakeGrant()
            rig.scheduler.backgroundDrain.use(grant)
            await simulation.settle()
            #expect(grant.responses == [true])
            grant.expire()
            #expect(grant.responses == [true])
            #expect(rig.runs == 1)
        }
    }

    @Test func aRunThatLeavesWritesHasNotFinished() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.client.setDepth(1)
            let grant = FakeGrant()
            rig.scheduler.backgroundDrain.use(grant)
            await simulation.settle()
            #expect(grant.responses == [false])
        }
    }

    @Test func aFailedRunHasNotFinished() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.client.outcome = { throw SyncError(.connectivity, "x") }
            let grant = FakeGrant()
            rig.scheduler.backgroundDrain.use(grant)
            await simulation.settle()
            #expect(grant.responses == [false])
        }
    }

    @Test func anExpiredRunIsCalledOffAndHasNotFinished() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            let ends = Mutex<[String]>([])
            rig.client.outcome = {
                do {
                    try await simulation.environment.sleep(.seconds(90))
                    ends.withLock { $0.append("ended") }
                } catch {
                    ends.withLock { $0.append("cancelled") }
                    throw error
                }
            }
            let grant = FakeGrant()
            rig.scheduler.backgroundDrain.use(grant)
            await simulation.advance(by: .seconds(25))
            grant.expire()
            #expect(grant.responses == [false])
            await simulation.settle()
            #expect(ends.withLock { $0 } == ["cancelled"])
            #expect(grant.responses == [false])
            // Being called off says nothing about the server.
            #expect(rig.health.phase == .idle)
            #expect(rig.health.lastError == nil)
            #expect(rig.errors.lines == [])
        }
    }

    /// The system grants a run, and a second later the path has not been reported yet.
    private func grantedBeforeThePathIsKnown(
        _ body: @escaping @Sendable (Simulation, SchedulerRig, FakeGrant) async throws -> Void
    ) throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) {
                $0.monitorPath = true
                $0.pollInterval = 0
            }
            rig.scheduler.start()
            let grant = FakeGrant()
            rig.scheduler.backgroundDrain.use(grant)
            await simulation.advance(by: .seconds(1))
            try await body(simulation, rig, grant)
        }
    }

    /// The app was started by the system for this run: its path monitor has not reported yet.
    @Test func aRunThatComesBeforeThePathIsKnownWaitsForIt() throws {
        try grantedBeforeThePathIsKnown { simulation, rig, grant in
            #expect(grant.responses == [])
            rig.path.report(true)
            await simulation.settle()
            #expect(grant.responses == [true])
            #expect(rig.runs == 2)
        }
    }

    @Test func withoutANetworkARunHasNotFinishedAndDoesNotUseUpItsTime() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.monitorPath = true }
            rig.scheduler.start()
            rig.path.report(false)
            let grant = FakeGrant()
            rig.scheduler.backgroundDrain.use(grant)
            await simulation.advance(by: .seconds(6))
            #expect(grant.responses == [false])
            #expect(rig.runs == 0)
        }
    }

    @Test func aRunThatExpiresWhileItWaitsForThePathDoesNotRunLater() throws {
        try grantedBeforeThePathIsKnown { simulation, rig, grant in
            grant.expire()
            #expect(grant.responses == [false])
            rig.path.report(true)
            await simulation.advance(by: .seconds(60))
            // The return of the path alone.
            #expect(rig.runs == 1)
            #expect(grant.responses == [false])
        }
    }

    /// With the real client: its write is sent in the background, or is said not to be.
    @Test func aBackgroundRunOfTheClientSaysWhetherItsWritesAreGone() throws {
        try ReadScene.run { scene in
            let scheduler = KizunaSyncScheduler(
                client: scene.client, pollInterval: 0, monitorPath: false, refreshSession: { true })
            scene.transport.isOnline = false
            try await scene.client.from("tasks").insert(TaskRow(id: "c", title: "three", done: false))
            let first = FakeGrant()
            scheduler.backgroundDrain.use(first)
            await scene.simulation.advance(by: .seconds(1))
            #expect(first.responses == [false])
            scene.transport.isOnline = true
            let second = FakeGrant()
            scheduler.backgroundDrain.use(second)
            await scene.simulation.advance(by: .seconds(1))
            #expect(second.responses == [true])
            #expect(scene.server.rows(of: "tasks").count == 3)
            await scene.client.close()
        }
    }

    @Test func thisPlatformGrantsNone() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            #expect(!rig.scheduler.registerBackgroundRun("app.sync"))
            let error = #expect(throws: SyncError.self) {
                try rig.scheduler.requestBackgroundRun("app.sync", .processing)
            }
            #expect(error?.code == .invalidConfiguration)
        }
    }
}
