import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

/// The timer, its jitter and its backoff (docs/spec/scheduling.md, Numbered behaviors: 7–10, 28–30).
@Suite struct SchedulerTimerTests {
    @Test func jitterSpansTheUpperHalfOfTheInterval() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.pollInterval = 8 }
            rig.scheduler.start()
            #expect(rig.wait == 4)
            rig.jitter.withLock { $0 = 0.99999 }
            rig.scheduler.pollInterval = 8
            #expect(rig.wait == 8)
            rig.jitter.withLock { $0 = 0.5 }
            rig.scheduler.pollInterval = 8
            #expect(rig.wait == 6)
        }
    }

    @Test func aFailureGrowsTheWaitAndASuccessEndsThat() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.pollInterval = 4 }
            rig.scheduler.start()
            await simulation.settle()
            #expect(rig.wait == 2)
            rig.client.outcome = { throw SyncError(.connectivity, "x") }
            await simulation.advance(by: .seconds(2))
            #expect(rig.wait == 4)
            rig.client.outcome = {}
            await simulation.advance(by: .seconds(4))
            #expect(rig.wait == 2)
            #expect(rig.health.consecutiveFailures == 0)
        }
    }

    @Test(arguments: [
        (15.0, [7.5, 15.0, 15.0, 15.0]), (4.0, [2.0, 4.0, 8.0, 15.0, 15.0]), (30.0, [15.0, 15.0, 15.0]),
        (120.0, [60.0, 60.0]), (1.0, [0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0]),
    ])
    func theWaitsAfterFailuresAreThePages(_ interval: Double, _ halves: [Double]) throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.pollInterval = interval }
            rig.scheduler.start()
            await simulation.settle()
            rig.client.outcome = { throw SyncError(.connectivity, "x") }
            var waits: [Double] = []
            for _ in halves {
                let wait = try #require(rig.wait)
                waits.append(wait)
                await simulation.advance(by: .seconds(wait))
            }
            #expect(waits == halves)
            rig.jitter.withLock { $0 = 0.999_999 }
            rig.scheduler.pollInterval = interval
            #expect(rig.wait == (halves.last ?? 0) * 2)
        }
    }

    @Test func eachTickMovesTheNextAttempt() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.pollInterval = 10 }
            rig.scheduler.start()
            var seen: [Date?] = []
            for _ in 0..<4 {
                seen.append(rig.health.nextAttemptAt)
                await simulation.advance(by: .seconds(5))
            }
            #expect(seen == [5, 10, 15, 20].map { Simulation.startDate.addingTimeInterval($0) })
            #expect(rig.runs == 5)
        }
    }

    @Test func theNextTickIsSetBeforeTheRunSoThatAHungRunCannotEndTheLoop() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.pollInterval = 10 }
            let gate = AsyncGate()
            rig.client.outcome = { await gate.wait() }
            rig.scheduler.start()
            for _ in 0..<20 {
                await simulation.advance(by: .seconds(5))
                let next = try #require(rig.health.nextAttemptAt)
                #expect(next > simulation.wallClock)
            }
            gate.open()
        }
    }

    @Test func stopClearsTheNextAttemptAndPublishesThat() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.scheduler.start()
            await simulation.settle()
            let healths = rig.healths()
            #expect(rig.health.nextAttemptAt != nil)
            rig.scheduler.stop()
            #expect(rig.health.nextAttemptAt == nil)
            #expect(healths.all.last?.nextAttemptAt == nil)
            await simulation.advance(by: .seconds(600))
            #expect(rig.runs == 1)
        }
    }

    @Test func aShorterIntervalRestartsTheTimer() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.scheduler.start()
            await simulation.advance(by: .seconds(20))
            rig.scheduler.pollInterval = 2
            #expect(rig.wait == 1)
            await simulation.advance(by: .seconds(3))
            #expect(rig.runs == 4)
            #expect(rig.scheduler.pollInterval == 2)
        }
    }

    @Test func anotherRefreshPushesTheTickBackAFullInterval() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.scheduler.start()
            await simulation.advance(by: .seconds(20))
            let calls = Mutex(0)
            rig.scheduler.refreshSession = {
                calls.withLock { $0 += 1 }
                return true
            }
            #expect(rig.wait == 30)
            await simulation.advance(by: .seconds(29))
            #expect(rig.runs == 1)
            await simulation.advance(by: .seconds(1))
            #expect(rig.runs == 2)
            #expect(calls.withLock { $0 } == 1)
        }
    }

    @Test(arguments: [0.0, -1.0, .infinity, .nan]) func withoutAnIntervalOnlyWakesRun(_ interval: Double) throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.pollInterval = interval }
            rig.scheduler.start()
            await simulation.advance(by: .seconds(3600))
            #expect(rig.runs == 1)
            #expect(rig.health.nextAttemptAt == nil)
            rig.scheduler.notifyOnline()
            await simulation.settle()
            #expect(rig.runs == 2)
        }
    }

    @Test func assigningWhileStoppedSetsNoTimer() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.scheduler.pollInterval = 1
            rig.scheduler.refreshSession = { true }
            #expect(rig.health.nextAttemptAt == nil)
            await simulation.advance(by: .seconds(60))
            #expect(rig.runs == 0)
        }
    }

    @Test func assigningSyncOrErrorHandlerLeavesTheTimer() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.scheduler.start()
            await simulation.advance(by: .seconds(20))
            rig.scheduler.sync = {}
            rig.scheduler.onError = { _ in }
            #expect(rig.wait == 10)
        }
    }

    @Test func theTimerOfASchedulerThatWasLetGoOfStops() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) {
                $0.monitorPath = true
                $0.tables = ["todos"]
            }
            rig.scheduler.start()
            rig.path.report(true)
            await simulation.settle()
            rig.letGo()
            await simulation.advance(by: .seconds(600))
            #expect(rig.runs == 1)
            #expect(rig.path.log == ["start", "cancel"])
            #expect(rig.realtime.log == ["kizunasync:todos", "cancel"])
            #expect(rig.client.cancelled == [1])
        }
    }

    @Test func jitterIsDrawnOnceForEachSettingOfTheTimer() throws {
        try Simulation.run { simulation in
            let draws = Mutex(0)
            var ports = SchedulerRunner.Ports(client: FakeSchedulerClient())
            ports.jitterSource = {
                draws.withLock {
                    $0 += 1; return 0.5
                }
            }
            let scheduler = KizunaSyncScheduler(
                ports: ports,
                assigned: SchedulerAssignments(pollInterval: 8, monitorPath: true, refreshSession: .plain { true }),
                environment: simulation.environment)
            scheduler.start()
            await simulation.advance(by: .seconds(12))
            #expect(draws.withLock { $0 } == 3)
            scheduler.stop()
        }
    }
}
