import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

/// The eleven decisions of docs/spec/scheduling.md, Numbered decisions.
@Suite struct SchedulerDecisionTests {
    private static let failure = SyncError(.connectivity, "x")

    // MARK: - 1. Every transition is published

    @Test func goingOfflineAndStoppingArePublished() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.monitorPath = true }
            let healths = rig.healths()
            rig.scheduler.start()
            rig.path.report(true)
            await simulation.settle()
            rig.path.report(false)
            rig.path.report(true)
            await simulation.settle()
            rig.path.report(false)
            rig.scheduler.stop()
            #expect(
                healths.phases == [.idle, .offline, .syncing, .idle, .offline, .syncing, .idle, .offline, .idle])
            #expect(healths.all.last == rig.health)
        }
    }

    @Test(arguments: [11, 12, 13, 14, 15]) func theLastPublishedHealthIsTheHealth(_ seed: UInt64) throws {
        try Simulation.run(seed: seed, interleaving: .shuffled) { simulation in
            let rig = SchedulerRig(simulation) {
                $0.pollInterval = 4
                $0.monitorPath = true
            }
            let healths = rig.healths()
            rig.client.outcome = {
                try await simulation.environment.sleep(.milliseconds(900))
                if simulation.nextRandom() % 2 == 0 { throw Self.failure }
            }
            for _ in 0..<400 {
                switch simulation.nextRandom() % 7 {
                case 0: rig.scheduler.start()
                case 1: rig.scheduler.stop()
                case 2: rig.path.report(simulation.nextRandom() % 2 == 0)
                case 3: rig.client.tell(depth: Int(simulation.nextRandom() % 3))
                case 4: rig.scheduler.wake()
                default: await simulation.advance(by: .milliseconds(Int(simulation.nextRandom() % 3000)))
                }
                #expect(healths.all.last == rig.health, "seed \(seed)")
            }
        }
    }

    // MARK: - 2. Wakes do not defeat backoff

    @Test(arguments: [(1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (5, 16.0), (6, 30.0), (9, 30.0)])
    func aWriteAfterFailuresKeepsItsDistance(_ failures: Int, _ floor: Double) throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.pollInterval = 0 }
            rig.scheduler.start()
            await simulation.settle()
            for _ in 0..<failures { await rig.fail() }
            let before = rig.runs
            rig.scheduler.wake(reason: .localWrite)
            rig.scheduler.wake(reason: .localWrite)
            await simulation.advance(by: .seconds(floor) - .milliseconds(1))
            #expect(rig.runs == before)
            await simulation.advance(by: .milliseconds(1))
            #expect(rig.runs == before + 1)
        }
    }

    @Test func afterASuccessThereIsNoDistance() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            await rig.fail()
            await rig.succeed()
            rig.scheduler.wake(reason: .localWrite)
            await simulation.settle()
            #expect(rig.runs == 3)
        }
    }

    @Test func aDoorbellKeepsItsDistanceAndAHeldWakeIsServedOnce() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) {
                $0.pollInterval = 0
                $0.tables = ["todos"]
            }
            rig.scheduler.start()
            await rig.fail()
            await rig.fail()
            let before = rig.runs
            for _ in 0..<10 { rig.realtime.ring() }
            await simulation.advance(by: .milliseconds(1_900))
            #expect(rig.runs == before)
            rig.client.outcome = {}
            await simulation.advance(by: .seconds(60))
            #expect(rig.runs == before + 1)
        }
    }

    @Test(arguments: [KizunaSyncScheduler.WakeReason.path, .foreground, .start, .doorbell, .session])
    func otherWakesStartAtOnce(_ reason: KizunaSyncScheduler.WakeReason) throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            for _ in 0..<6 { await rig.fail() }
            rig.scheduler.wake(reason: reason)
            await simulation.settle()
            #expect(rig.runs == 7)
        }
    }

    @Test func steadyWritesAgainstAFailingServerStayBounded() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.scheduler.start()
            rig.client.outcome = { throw Self.failure }
            for depth in 1...1200 {
                rig.client.tell(depth: depth)
                await simulation.advance(by: .milliseconds(500))
            }
            // 600 s: the first failures at 1, 2, 4, 8 and 16 s, then one each 30 s, and the polls between.
            #expect((20...60).contains(rig.runs), "\(rig.runs) runs")
        }
    }

    @Test func aWriteDuringAFailingRunDoesNotFollowItAtOnce() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.client.outcome = {
                try await simulation.environment.sleep(.seconds(1))
                throw Self.failure
            }
            rig.scheduler.wake()
            await simulation.settle()
            rig.scheduler.wake(reason: .localWrite)
            await simulation.advance(by: .milliseconds(1_900))
            #expect(rig.runs == 1)
            await simulation.advance(by: .milliseconds(200))
            #expect(rig.runs == 2)
        }
    }

    // MARK: - 3. Stalls are seen without polls and under writes

    @Test func anOldAttemptIsStalledWithoutPolls() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.pollInterval = 0 }
            let gate = AsyncGate()
            rig.client.outcome = { await gate.wait() }
            rig.scheduler.start()
            await simulation.advance(by: .milliseconds(29_900))
            #expect(rig.health.phase == .syncing)
            await simulation.advance(by: .milliseconds(200))
            #expect(rig.health.phase == .stalled)
            gate.open()
        }
    }

    @Test func anOldAttemptIsStalledUnderSteadyWrites() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.pollInterval = 10 }
            let gate = AsyncGate()
            rig.client.outcome = { await gate.wait() }
            rig.scheduler.start()
            for depth in 1...31 {
                rig.client.tell(depth: depth)
                await simulation.advance(by: .seconds(1))
            }
            #expect(rig.health.phase == .stalled)
            rig.client.tell(depth: 50)
            await simulation.advance(by: .seconds(1))
            #expect(rig.health.phase == .stalled)
            gate.open()
        }
    }

    @Test func theStallAgeFollowsTheIntervalOrTheAssignment() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.pollInterval = 100 }
            let gate = AsyncGate()
            rig.client.outcome = { await gate.wait() }
            rig.scheduler.runDeadline = .seconds(1000)
            rig.scheduler.wake()
            await simulation.advance(by: .seconds(199))
            #expect(rig.health.phase == .syncing)
            await simulation.advance(by: .seconds(2))
            #expect(rig.health.phase == .stalled)
            rig.client.outcome = { try await simulation.environment.sleep(.seconds(50)) }
            rig.scheduler.stallAfter = .seconds(7)
            gate.open()
            await simulation.advance(by: .seconds(8))
            #expect(rig.health.phase == .stalled)
            #expect(rig.runs == 2)
        }
    }

    // MARK: - 4. Runs have a deadline

    @Test func atTheDeadlineARunIsCancelledAndCountsAsFailed() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.pollInterval = 0 }
            let cancelled = Mutex(false)
            rig.client.outcome = {
                do {
                    try await simulation.environment.sleep(.seconds(10_000))
                } catch {
                    cancelled.withLock { $0 = true }
                    throw error
                }
            }
            rig.scheduler.wake()
            await simulation.advance(by: .seconds(119))
            #expect(!cancelled.withLock { $0 })
            rig.client.outcome = {}
            await simulation.advance(by: .seconds(2))
            #expect(cancelled.withLock { $0 })
            #expect(rig.errors.lines == ["run_deadline"])
            // The stall before the deadline had booked a catch-up, which succeeded.
            #expect(rig.runs == 2)
            #expect(rig.health.phase == .idle)
        }
    }

    @Test func aHungRefreshHasTheSameDeadline() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.pollInterval = 0 }
            rig.scheduler.runDeadline = .seconds(20)
            rig.refresh.withLock {
                $0 = {
                    do {
                        try await simulation.environment.sleep(.seconds(10_000))
                        return true
                    } catch {
                        return true
                    }
                }
            }
            rig.scheduler.wake()
            await simulation.advance(by: .seconds(21))
            #expect(rig.health.phase == .backoff)
            #expect(rig.health.lastError?.code == "run_deadline")
            #expect(rig.runs == 0)
        }
    }

    @Test func aClosureThatIgnoresItsCancellationHoldsTheSlotForAsLongAgain() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.pollInterval = 10 }
            let gate = AsyncGate()
            rig.client.outcome = { await gate.wait() }
            rig.scheduler.runDeadline = .seconds(40)
            rig.scheduler.start()
            await simulation.advance(by: .seconds(79))
            #expect(rig.runs == 1)
            #expect(rig.health.lastError?.code == "run_deadline")
            rig.client.outcome = {}
            await simulation.advance(by: .seconds(2))
            #expect(rig.runs == 2)
            #expect(rig.health.consecutiveFailures == 0)
            // What the given-up closure says at last is no news.
            let before = rig.health
            gate.open()
            await simulation.settle()
            #expect(rig.health == before)
        }
    }

    @Test func aHungNeedsResetDoesNotHoldTheLoop() throws {
        try Simulation.run { simulation in
            let gate = AsyncGate()
            let rig = SchedulerRig(simulation) {
                $0.pollInterval = 0
                $0.needsReset = {
                    await gate.wait()
                    return true
                }
            }
            rig.scheduler.wake()
            await simulation.advance(by: .seconds(121))
            #expect(rig.health.lastSuccessAt != nil)
            #expect(!rig.health.needsReset)
            gate.open()
        }
    }

    // MARK: - 5. Sessions

    @Test func aRejectedRefreshWaitsForTheSession() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.pollInterval = 10 }
            rig.refresh.withLock { $0 = { false } }
            rig.scheduler.start()
            await simulation.settle()
            #expect(rig.health.needsSession)
            #expect(rig.health.phase == .waitingForSession)
            await simulation.advance(by: .seconds(5))
            #expect(rig.trace.lines == ["refresh", "refresh"])
            rig.refresh.withLock { $0 = nil }
            rig.scheduler.notifySession()
            await simulation.settle()
            #expect(!rig.health.needsSession)
            #expect(rig.runs == 1)
        }
    }

    @Test func aSignedOutUserIsNotAskedAgainUntilTheSessionChanges() throws {
        try Simulation.run { simulation in
            let asked = Mutex(0)
            let isIn = Mutex(false)
            let rig = SchedulerRig(simulation) {
                $0.pollInterval = 10
                $0.refresh = .detailed {
                    asked.withLock { $0 += 1 }
                    return isIn.withLock { $0 } ? .ready : .signedOut
                }
            }
            rig.scheduler.start()
            await simulation.advance(by: .seconds(600))
            #expect(asked.withLock { $0 } == 1)
            #expect(rig.health.phase == .waitingForSession)
            #expect(rig.health.nextAttemptAt == nil)
            isIn.withLock { $0 = true }
            rig.scheduler.notifySession()
            await simulation.advance(by: .seconds(6))
            #expect(rig.runs == 2)
            #expect(rig.health.phase == .idle)
            let isReady = await rig.scheduler.refreshSession()
            #expect(isReady)
        }
    }

    @Test func aFollowUpThatFindsASessionAgainPollsAgain() throws {
        try Simulation.run { simulation in
            let gate = AsyncGate()
            let isIn = Mutex(false)
            let rig = SchedulerRig(simulation) {
                $0.pollInterval = 10
                $0.refresh = .detailed {
                    await gate.wait()
                    return isIn.withLock { state in
                        defer { state = true }
                        return state
                    } ? .ready : .signedOut
                }
            }
            rig.scheduler.start()
            rig.scheduler.wake()
            gate.open()
            await simulation.settle()
            #expect(rig.runs == 1)
            await simulation.advance(by: .seconds(6))
            #expect(rig.runs == 2)
        }
    }

    @Test func aRefreshThatFailedBacksOff() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) {
                $0.pollInterval = 4
                $0.refresh = .detailed { .failed(Self.failure) }
            }
            rig.scheduler.start()
            await simulation.settle()
            #expect(rig.health.phase == .backoff)
            #expect(rig.health.consecutiveFailures == 1)
            #expect(!rig.health.needsSession)
            #expect(rig.wait == 4)
            #expect(rig.errors.lines == ["connectivity"])
            #expect(rig.runs == 0)
        }
    }

    // MARK: - 6. A burst of writes is one wake

    @Test func aBurstOfWritesIsOneWake() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.scheduler.start()
            await simulation.settle()
            for depth in 1...500 { rig.client.tell(depth: depth) }
            await simulation.advance(by: .milliseconds(249))
            #expect(rig.runs == 1)
            await simulation.advance(by: .milliseconds(1))
            #expect(rig.runs == 2)
            await simulation.advance(by: .seconds(5))
            #expect(rig.runs == 2)
        }
    }

    @Test func aRunThatEmptiesTheQueueDoesNotWakeItself() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.scheduler.start()
            await simulation.settle()
            let client = rig.client
            client.outcome = {
                for depth in (0..<5).reversed() {
                    try await simulation.environment.sleep(.seconds(1))
                    client.tell(depth: depth)
                }
            }
            client.tell(depth: 5)
            await simulation.advance(by: .seconds(20))
            #expect(rig.runs == 2)
            #expect(rig.health.queueDepth == 0)
        }
    }

    // MARK: - 7. Handlers are told in order, one at a time

    @Test func handlersThatCallBackAreToldInOrder() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            let depth = Mutex((now: 0, most: 0))
            let seen = HealthLog()
            let stop = rig.scheduler.onHealth { health in
                depth.withLock {
                    $0.now += 1
                    $0.most = max($0.most, $0.now)
                }
                seen.add(health)
                if health.phase == .backoff { rig.scheduler.wake() }
                depth.withLock { $0.now -= 1 }
            }
            rig.client.outcome = { [client = rig.client] in
                client.outcome = {}
                throw Self.failure
            }
            rig.scheduler.wake()
            await simulation.settle()
            #expect(depth.withLock { $0.most } == 1)
            #expect(seen.phases == [.idle, .syncing, .backoff, .syncing, .idle])
            stop()
            rig.scheduler.wake()
            await simulation.settle()
            #expect(seen.phases == [.idle, .syncing, .backoff, .syncing, .idle])
        }
    }

    // MARK: - 8. No main run loop: every test here runs without one

    @Test func theNextAttemptIsGoneAsSoonAsStopReturns() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.scheduler.start()
            rig.scheduler.stop()
            #expect(rig.health.nextAttemptAt == nil)
        }
    }

    // MARK: - 9. A replaced engine is subscribed to

    @Test func aReplacedEngineIsSubscribedTo() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation)
            rig.scheduler.start()
            await simulation.settle()
            rig.client.replaceEngine()
            await simulation.settle()
            #expect(rig.client.subscriptions == 2)
            rig.client.tell(depth: 1)
            await simulation.advance(by: .seconds(1))
            #expect(rig.runs == 2)
            rig.scheduler.stop()
            rig.client.replaceEngine()
            await simulation.settle()
            #expect(rig.client.subscriptions == 2)
        }
    }

    // MARK: - 11. The server's Retry-After

    private struct Busy: KizunaSyncRetryAfter {
        var retryAfter: Duration?
    }

    @Test func pollsAndWritesWaitAsLongAsTheServerAsks() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.pollInterval = 10 }
            rig.scheduler.start()
            await simulation.settle()
            rig.client.outcome = { throw Busy(retryAfter: .seconds(120)) }
            await simulation.advance(by: .seconds(5))
            #expect(rig.runs == 2)
            #expect(rig.wait == 120)
            rig.scheduler.wake(reason: .localWrite)
            await simulation.advance(by: .seconds(119))
            #expect(rig.runs == 2)
            rig.client.outcome = {}
            await simulation.advance(by: .seconds(2))
            #expect(rig.runs == 3)
            #expect(rig.wait ?? 0 <= 5)
        }
    }

    @Test func theServerCannotAskForMoreThanTenMinutes() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.pollInterval = 10 }
            rig.scheduler.start()
            await rig.fail(Busy(retryAfter: .seconds(86_400)))
            await simulation.settle()
            #expect(rig.wait == 600)
            // A person's wish goes at once.
            await rig.succeed()
            #expect(rig.wait == 5)
        }
    }

    @Test func jitterKeepsTheFleetApartAfterTheSameRetryAfter() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.pollInterval = 10 }
            rig.jitter.withLock { $0 = 0.5 }
            rig.scheduler.start()
            await simulation.settle()
            await rig.fail(Busy(retryAfter: .seconds(100)))
            #expect(rig.wait == 105)
        }
    }
}
