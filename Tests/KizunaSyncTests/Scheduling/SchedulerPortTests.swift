import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

/// Path gate, foreground, doorbell and local writes (docs/spec/scheduling.md, Numbered behaviors: 13–18, 23–25, 31,
/// 32).
@Suite struct SchedulerPortTests {
    // MARK: - Path

    @Test func theMonitorIsArmedOnStartAndTheFirstGoodReportRunsOnce() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.monitorPath = true }
            #expect(rig.health.phase == .idle)
            rig.scheduler.start()
            await simulation.settle()
            #expect(rig.path.log == ["start"])
            #expect(rig.health.phase == .offline)
            #expect(rig.runs == 0)
            rig.path.report(true)
            await simulation.settle()
            rig.path.report(true)
            await simulation.settle()
            #expect(rig.runs == 1)
            #expect(rig.health.phase == .idle)
            rig.scheduler.monitorPath = false
            #expect(rig.path.log == ["start", "cancel"])
            rig.scheduler.monitorPath = true
            #expect(rig.path.log == ["start", "cancel", "start"])
            #expect(rig.health.phase == .offline)
            rig.scheduler.stop()
            #expect(rig.path.log == ["start", "cancel", "start", "cancel"])
            #expect(rig.health.phase == .idle)
        }
    }

    @Test func aLateReportOfACancelledMonitorDoesNotShutTheGate() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.monitorPath = true }
            rig.scheduler.start()
            rig.path.report(true)
            rig.scheduler.monitorPath = false
            rig.path.reportLate(false)
            #expect(rig.health.phase != .offline)
            rig.scheduler.stop()
            rig.path.reportLate(false)
            #expect(rig.health.phase != .offline)
        }
    }

    @Test func aMonitorThatReportsWhileItIsStartedIsHeard() throws {
        final class Prompt: KizunaSyncPathMonitor {
            func start(onSatisfied: @escaping @Sendable (Bool) -> Void) { onSatisfied(true) }
            func cancel() {}
        }
        try Simulation.run { simulation in
            let client = FakeSchedulerClient()
            var ports = SchedulerRunner.Ports(client: client)
            ports.pathMonitor = Prompt()
            let scheduler = KizunaSyncScheduler(
                ports: ports,
                assigned: SchedulerAssignments(pollInterval: 60, monitorPath: true, refreshSession: .plain { true }),
                environment: simulation.environment)
            scheduler.start()
            await simulation.settle()
            #expect(client.syncs == 1)
        }
    }

    @Test func theGateHoldsEveryReasonAndItsOpeningRunsOnce() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.monitorPath = true }
            rig.scheduler.start()
            rig.path.report(false)
            for reason in KizunaSyncScheduler.WakeReason.allCases { rig.scheduler.wake(reason: reason) }
            rig.scheduler.notifyForeground()
            rig.client.tell(depth: 3)
            await simulation.advance(by: .seconds(300))
            #expect(rig.runs == 0)
            rig.path.report(true)
            await simulation.advance(by: .seconds(1))
            #expect(rig.runs == 1)
        }
    }

    @Test func turningTheMonitorOffAgainOpensAShutGateAndRunsOnce() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.scheduler.start()
            await simulation.settle()
            rig.scheduler.reportPath(false)
            #expect(rig.health.phase == .offline)
            rig.scheduler.monitorPath = false
            await simulation.settle()
            #expect(rig.runs == 2)
            #expect(rig.health.phase == .idle)
            rig.scheduler.monitorPath = false
            await simulation.settle()
            #expect(rig.runs == 2)
        }
    }

    @Test func withoutAMonitorNothingIsHeldBack() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) {
                $0.monitorPath = true
                $0.hasPath = false
            }
            rig.scheduler.start()
            await simulation.settle()
            #expect(rig.runs == 1)
        }
    }

    @Test func offlineGoesBeforeARunUnderWay() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.client.outcome = { try await simulation.environment.sleep(.seconds(5)) }
            rig.scheduler.wake()
            await simulation.settle()
            #expect(rig.health.phase == .syncing)
            rig.scheduler.reportPath(false)
            #expect(rig.health.phase == .offline)
            await simulation.advance(by: .seconds(6))
            #expect(rig.health.lastSuccessAt != nil)
            #expect(rig.health.phase == .offline)
        }
    }

    // MARK: - Foreground

    @Test func theForegroundSourceRunsOncePerReportBetweenStartAndStop() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.observeForeground = true }
            #expect(rig.foreground.log == [])
            rig.scheduler.start()
            await simulation.settle()
            #expect(rig.runs == 1)
            rig.foreground.report()
            await simulation.settle()
            #expect(rig.runs == 2)
            rig.scheduler.stop()
            rig.foreground.report()
            await simulation.settle()
            #expect(rig.runs == 2)
            #expect(rig.foreground.log == ["start", "stop"])
        }
    }

    @Test func aSourceIsIgnoredWhereTheForegroundIsNotObserved() throws {
        try Simulation.run { simulation in
            let source = FakeForegroundSource()
            let client = try await simulation.makeClient(ScriptedTransport(simulation) { _ in .json("[]") })
            let scheduler = KizunaSyncScheduler(
                client: client, monitorPath: false, observeForeground: false, foregroundSource: source,
                refreshSession: { true })
            scheduler.start()
            await simulation.settle()
            scheduler.stop()
            #expect(source.log == [])
            let observing = KizunaSyncScheduler(
                client: client, monitorPath: false, foregroundSource: source, refreshSession: { true })
            observing.start()
            observing.stop()
            #expect(source.log == ["start", "stop"])
            await client.close()
        }
    }

    // MARK: - Realtime

    @Test func theDoorbellGetsAllTopicsAndRunsOncePerMessage() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.tables = ["todos", "lists"] }
            rig.scheduler.start()
            await simulation.settle()
            #expect(rig.realtime.log == ["kizunasync:todos kizunasync:lists"])
            rig.realtime.ring()
            await simulation.settle()
            rig.realtime.ring()
            await simulation.settle()
            #expect(rig.runs == 3)
            rig.scheduler.stop()
            #expect(rig.realtime.log == ["kizunasync:todos kizunasync:lists", "cancel"])
            rig.realtime.ring()
            await simulation.settle()
            #expect(rig.runs == 3)
        }
    }

    @Test func withoutTablesNothingIsSubscribed() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.scheduler.start()
            await simulation.settle()
            rig.scheduler.stop()
            #expect(rig.realtime.log == [])
        }
    }

    // MARK: - Local writes

    @Test func aDepthAboveZeroRunsAndZeroDoesNot() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.scheduler.start()
            await simulation.settle()
            rig.client.tell(depth: 0)
            await simulation.advance(by: .seconds(1))
            #expect(rig.runs == 1)
            rig.client.tell(depth: 1)
            await simulation.advance(by: .seconds(1))
            #expect(rig.runs == 2)
            #expect(rig.health.queueDepth == 1)
        }
    }

    @Test func stopReleasesTheSubscriptionItMadeAndLateEventsWakeNothing() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.scheduler.start()
            await simulation.settle()
            let late = rig.client.handlers
            rig.scheduler.stop()
            #expect(rig.client.cancelled == [1])
            for handler in late { handler(.queueDepth(4)) }
            await simulation.advance(by: .seconds(1))
            #expect(rig.runs == 1)
            rig.scheduler.start()
            await simulation.settle()
            #expect(rig.client.subscriptions == 2)
            for handler in late { handler(.queueDepth(4)) }
            await simulation.advance(by: .seconds(1))
            #expect(rig.runs == 2)
        }
    }

    @Test func aSubscriptionThatComesAfterStopIsReleased() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.scheduler.start()
            rig.scheduler.stop()
            await simulation.settle()
            #expect(rig.client.subscriptions == 1)
            #expect(rig.client.cancelled == [1])
        }
    }

    @Test func aRefusedSubscriptionReachesTheHandlerAndTheLoopGoesOn() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.pollInterval = 10 }
            rig.client.rejection = SyncError(.engineUnavailable, "no engine")
            rig.scheduler.start()
            await simulation.settle()
            #expect(rig.errors.lines == ["ENGINE_UNAVAILABLE"])
            await simulation.advance(by: .seconds(11))
            #expect(rig.runs == 3)
            #expect(rig.errors.lines == ["ENGINE_UNAVAILABLE"])
            // A superset of the page: the first run after create(_:) subscribes.
            rig.client.rejection = nil
            await simulation.advance(by: .seconds(5))
            #expect(rig.client.subscriptions == 1)
            rig.client.tell(depth: 1)
            await simulation.advance(by: .milliseconds(300))
            #expect(rig.runs == 5)
        }
    }

    @Test func whatWaitedAtTheStartIsShownAndIsNoWake() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.client.setDepth(7)
            rig.scheduler.start()
            await simulation.advance(by: .seconds(1))
            #expect(rig.health.queueDepth == 7)
            #expect(rig.runs == 1)
        }
    }
}
