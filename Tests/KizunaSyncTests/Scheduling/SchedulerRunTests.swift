import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

/// What one run does (docs/spec/scheduling.md, Numbered behaviors: 1–6, 11, 12, 19–22, 27).
@Suite struct SchedulerRunTests {
    private struct Plain: Error, CustomStringConvertible {
        var description: String { "the disk is on fire" }
    }

    @Test func aForegroundWakeRefreshesThenSyncs() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.scheduler.notifyForeground()
            await simulation.settle()
            #expect(rig.trace.lines == ["refresh", "sync"])
        }
    }

    @Test func aRejectedRefreshSkipsTheSync() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.refresh.withLock { $0 = { false } }
            rig.scheduler.wake()
            await simulation.settle()
            #expect(rig.trace.lines == ["refresh"])
            #expect(rig.health.consecutiveFailures == 0)
            #expect(rig.health.lastError == nil)
        }
    }

    @Test(arguments: [1, 2, 3, 4, 5]) func twentyConcurrentWakesAreAtMostTwoRuns(_ seed: UInt64) throws {
        try Simulation.run(seed: seed, interleaving: .shuffled) { simulation in
            let rig = SchedulerRig(simulation)
            rig.client.outcome = { try await simulation.environment.sleep(.seconds(1)) }
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<20 { group.addTask { rig.scheduler.wake() } }
            }
            await simulation.advance(by: .seconds(10))
            #expect((1...2).contains(rig.runs))
            #expect(rig.client.mostActive == 1)
        }
    }

    @Test func oneFailureIsBackoffAfterIdle() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            #expect(rig.health.phase == .idle)
            await rig.fail()
            #expect(rig.health.phase == .backoff)
            #expect(rig.health.consecutiveFailures == 1)
        }
    }

    @Test func theLastErrorHasCodeMessageAndTime() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            await simulation.advance(by: .seconds(5))
            await rig.fail(SyncError(.connectivity, "No route to the server."))
            let error = try #require(rig.health.lastError)
            #expect(error.code == "connectivity")
            #expect(error.message == "No route to the server.")
            #expect(error.at == Simulation.startDate.addingTimeInterval(5))
            await rig.succeed()
            #expect(rig.health.lastError == nil)
            #expect(rig.health.lastSuccessAt == Simulation.startDate.addingTimeInterval(5))
        }
    }

    @Test func anUncodedErrorKeepsItsText() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            await rig.fail(Plain())
            #expect(rig.health.lastError?.code == nil)
            #expect(rig.health.lastError?.message == "the disk is on fire")
        }
    }

    @Test func aTickOnABusySlotBooksNoCatchUp() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.client.outcome = { try await simulation.environment.sleep(.seconds(5)) }
            rig.scheduler.wake()
            await simulation.settle()
            rig.scheduler.wake(reason: .poll)
            await simulation.advance(by: .seconds(20))
            #expect(rig.runs == 1)
            #expect(rig.health.consecutiveFailures == 0)
        }
    }

    @Test func twoTicksOnOneAttemptAreAStallAndOneCatchUp() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.pollInterval = 10 }
            let gate = AsyncGate()
            rig.client.outcome = { await gate.wait() }
            rig.scheduler.start()
            await simulation.advance(by: .seconds(6))
            #expect(rig.health.phase == .syncing)
            await simulation.advance(by: .seconds(5))
            #expect(rig.health.phase == .stalled)
            #expect(rig.health.consecutiveFailures == 1)
            await simulation.advance(by: .seconds(60))
            #expect(rig.health.consecutiveFailures == 1)
            rig.scheduler.stop()
            rig.client.outcome = {}
            gate.open()
            await simulation.advance(by: .seconds(600))
            #expect(rig.runs == 2)
            #expect(rig.health.phase == .idle)
            #expect(rig.health.consecutiveFailures == 0)
        }
    }

    @Test func aStalledAttemptThatFailsCountsOnceMore() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.pollInterval = 10 }
            let gate = AsyncGate()
            rig.client.outcome = {
                await gate.wait()
                throw SyncError(.connectivity, "late")
            }
            rig.scheduler.start()
            await simulation.advance(by: .seconds(11))
            rig.client.outcome = { try await simulation.environment.sleep(.seconds(1)) }
            gate.open()
            await simulation.settle()
            #expect(rig.health.consecutiveFailures == 2)
            #expect(rig.runs == 2)
        }
    }

    @Test func aWakeDuringAStallAsksForTwoFreshTicks() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            let gate = AsyncGate()
            rig.client.outcome = { await gate.wait() }
            rig.scheduler.wake()
            await simulation.settle()
            for _ in 0..<2 { rig.scheduler.wake(reason: .poll) }
            #expect(rig.health.phase == .stalled)
            rig.scheduler.wake()
            #expect(rig.health.phase == .syncing)
            rig.scheduler.wake(reason: .poll)
            #expect(rig.health.phase == .syncing)
            rig.scheduler.wake(reason: .poll)
            #expect(rig.health.phase == .stalled)
            gate.open()
        }
    }

    @Test func needsResetIsReadAfterEachRunAndPublished() throws {
        try Simulation.run { simulation in
            let needed = Mutex(true)
            let reads = Mutex(0)
            let rig = SchedulerRig(simulation) {
                $0.needsReset = {
                    reads.withLock { $0 += 1 }
                    return needed.withLock { $0 }
                }
            }
            let healths = rig.healths()
            #expect(!rig.health.needsReset)
            await rig.succeed()
            #expect(rig.health.needsReset)
            needed.withLock { $0 = false }
            await rig.fail()
            #expect(!rig.health.needsReset)
            needed.withLock { $0 = true }
            rig.refresh.withLock { $0 = { false } }
            await rig.succeed()
            #expect(rig.health.needsReset)
            #expect(reads.withLock { $0 } == 3)
            #expect(healths.all.contains { $0.needsReset && $0.phase == .idle })
        }
    }

    @Test func needsResetIsNotReadWhileTheGateIsShut() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.needsReset = { true } }
            rig.scheduler.reportPath(false)
            rig.scheduler.wake()
            await simulation.settle()
            #expect(!rig.health.needsReset)
        }
    }

    @Test func withoutAClosureNothingNeedsAReset() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            await rig.succeed()
            await rig.fail()
            #expect(!rig.health.needsReset)
        }
    }

    @Test func withoutASyncOfItsOwnTheClientsIsCalled() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            await rig.succeed()
            #expect(rig.runs == 1)
            let own = Mutex(0)
            rig.scheduler.sync = { own.withLock { $0 += 1 } }
            await rig.succeed()
            #expect(rig.runs == 1)
            #expect(own.withLock { $0 } == 1)
            rig.scheduler.sync = nil
            await rig.succeed()
            #expect(rig.runs == 2)
        }
    }

    @Test func startRunsOnceWithoutWaitingForATick() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.scheduler.start()
            rig.scheduler.start()
            await simulation.settle()
            #expect(rig.runs == 1)
        }
    }

    @Test func aSyncErrorReachesTheHandlerAndTheNextWakeTriesAgain() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            await rig.fail()
            #expect(rig.errors.lines == ["connectivity"])
            await rig.succeed()
            #expect(rig.runs == 2)
            rig.scheduler.onError = nil
            await rig.fail()
            #expect(rig.errors.lines == ["connectivity"])
        }
    }

    @Test func awaitedRunsSayWhetherTheySucceeded() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.client.outcome = { try await simulation.environment.sleep(.seconds(3)) }
            #expect(await rig.scheduler.run())
            #expect(simulation.elapsed == .seconds(3))
            let first = simulation.start { await rig.scheduler.run() }
            await simulation.advance(by: .seconds(1))
            // The second one wants a run that begins after its call.
            #expect(await rig.scheduler.run())
            #expect(simulation.elapsed == .seconds(9))
            let didSucceed = try await first.value
            #expect(didSucceed)
            rig.client.outcome = { throw SyncError(.connectivity, "x") }
            #expect(await !rig.scheduler.run())
            rig.scheduler.reportPath(false)
            #expect(await !rig.scheduler.run())
            #expect(rig.runs == 4)
        }
    }
}
