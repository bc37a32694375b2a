import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

/// What bounds the runs of a device whose network comes and goes, and of one that the server asked to be left alone
/// (decision 050; docs/spec/scheduling.md, Numbered decisions: 2, 11).
@Suite struct SchedulerPacingTests {
    private static let failure = SyncError(.connectivity, "x")

    private struct Busy: KizunaSyncRetryAfter {
        var retryAfter: Duration?
    }

    private static func flap(_ rig: SchedulerRig, seconds: Int, writes: Bool = false) async {
        for second in 0..<seconds {
            rig.path.report(false)
            if writes { rig.client.tell(depth: second + 1) }
            await rig.simulation.advance(by: .milliseconds(400))
            rig.path.report(true)
            await rig.simulation.advance(by: .milliseconds(600))
        }
    }

    private static func online(_ simulation: Simulation, pollInterval: Double = 0) async -> SchedulerRig {
        let rig = SchedulerRig(simulation) {
            $0.monitorPath = true
            $0.pollInterval = pollInterval
        }
        rig.scheduler.start()
        rig.path.report(true)
        await simulation.settle()
        return rig
    }

    @Test func threeReturnsOfThePathAreServedAtOnceAndThenFourInTwentySeconds() throws {
        try Simulation.run { simulation in
            let rig = await Self.online(simulation)
            #expect(rig.runs == 1)
            await Self.flap(rig, seconds: 2)
            #expect(rig.runs == 3)
            await Self.flap(rig, seconds: 58)
            #expect((9...12).contains(rig.runs), "\(rig.runs)")
        }
    }

    @Test func aFlappingPathAndSteadyWritesAgainstAFailingServerStayBounded() throws {
        try Simulation.run { simulation in
            let rig = await Self.online(simulation, pollInterval: 15)
            rig.client.outcome = { throw Self.failure }
            await Self.flap(rig, seconds: 60, writes: true)
            let first = rig.runs
            await Self.flap(rig, seconds: 540, writes: true)
            // The first failures at 1, 2, 4 s …; after them a poll each 7.5 s, the shortest, and two returns a minute.
            #expect(first <= 16, "\(first)")
            #expect(rig.runs - first <= 9 * 10, "\(rig.runs - first)")
        }
    }

    @Test func aHeldReturnLeavesTheStreakAlone() throws {
        try Simulation.run { simulation in
            let rig = await Self.online(simulation, pollInterval: 4)
            await Self.flap(rig, seconds: 2)
            await rig.fail()
            #expect(rig.health.consecutiveFailures == 1)
            await Self.flap(rig, seconds: 1)
            #expect(rig.health.consecutiveFailures == 1)
            #expect(rig.health.phase == .backoff)
        }
    }

    @Test func theHeldReturnOfAPathIsServedOnceAndNotLost() throws {
        try Simulation.run { simulation in
            let rig = await Self.online(simulation)
            for _ in 0..<6 {
                rig.path.report(false)
                rig.path.report(true)
                await simulation.settle()
            }
            await simulation.advance(by: .milliseconds(19_900))
            #expect(rig.runs == 3)
            await simulation.advance(by: .milliseconds(200))
            #expect(rig.runs == 4)
            await simulation.advance(by: .seconds(60))
            #expect(rig.runs == 4)
            // After a calm time the return is served at once again.
            rig.path.report(false)
            rig.path.report(true)
            await simulation.settle()
            #expect(rig.runs == 5)
        }
    }

    @Test func aHeldReturnThatIsOverIsForgotten() throws {
        try Simulation.run { simulation in
            let rig = await Self.online(simulation)
            await Self.flap(rig, seconds: 3)
            rig.path.report(false)
            await simulation.advance(by: .seconds(60))
            #expect(rig.runs == 3)
            rig.path.report(true)
            await simulation.settle()
            #expect(rig.runs == 4)
        }
    }

    @Test func aWriteIsNotHeldByAPathThatFlaps() throws {
        try Simulation.run { simulation in
            let rig = await Self.online(simulation)
            await Self.flap(rig, seconds: 3)
            #expect(rig.runs == 3)
            rig.client.tell(depth: 1)
            await simulation.advance(by: .milliseconds(250))
            #expect(rig.runs == 4)
            await simulation.advance(by: .seconds(60))
            #expect(rig.runs == 4)
        }
    }

    @Test func returnsDuringFailingRunsDoNotFollowThemAtOnceForEver() throws {
        try Simulation.run { simulation in
            let rig = await Self.online(simulation)
            rig.client.outcome = {
                try await simulation.environment.sleep(.milliseconds(1_500))
                throw Self.failure
            }
            await Self.flap(rig, seconds: 10)
            // Three at once, and those that the floor lets through.
            #expect(rig.runs <= 5, "\(rig.runs)")
        }
    }

    @Test func anArmedMonitorsFirstReportIsServedAtOnceHoweverSoon() throws {
        try Simulation.run { simulation in
            let rig = await Self.online(simulation)
            await Self.flap(rig, seconds: 3)
            #expect(rig.runs == 3)
            rig.scheduler.stop()
            rig.scheduler.start()
            rig.path.report(true)
            await simulation.settle()
            #expect(rig.runs == 4)
            rig.scheduler.monitorPath = false
            rig.scheduler.monitorPath = true
            rig.path.report(true)
            await simulation.settle()
            #expect(rig.runs == 5)
        }
    }

    @Test func writesWithoutASessionAskForOneLessAndLess() throws {
        try Simulation.run { simulation in
            let rig = await Self.online(simulation)
            rig.refresh.withLock { $0 = { false } }
            let before = rig.trace.lines.count
            for depth in 1...60 {
                rig.client.tell(depth: depth)
                await simulation.advance(by: .seconds(1))
            }
            // At 0, 1, 2, 4, 8, 16 and 30 s after one another.
            #expect(rig.trace.lines.count - before <= 7)
            #expect(rig.health.consecutiveFailures == 0)
            rig.refresh.withLock { $0 = nil }
            rig.scheduler.notifySession()
            await simulation.settle()
            #expect(rig.health.phase == .idle)
            let runs = rig.runs
            rig.client.tell(depth: 100)
            await simulation.advance(by: .seconds(1))
            #expect(rig.runs == runs + 1)
        }
    }

    // MARK: - Runs for writes alone

    @Test func aRunForWritesAloneDoesNotAskForReads() throws {
        try Simulation.run { simulation in
            let rig = await Self.online(simulation)
            rig.client.tell(depth: 1)
            await simulation.advance(by: .seconds(1))
            rig.scheduler.wake(reason: .localWrite)
            await simulation.settle()
            rig.scheduler.wake()
            await simulation.settle()
            #expect(rig.client.asked == [true, false, false, true])
        }
    }

    @Test func typingDoesNotAskForEveryListEachTime() throws {
        try ReadScene.run { scene in
            let watch = scene.watch(scene.tasks())
            let scheduler = KizunaSyncScheduler(
                client: scene.client, pollInterval: 0, monitorPath: false, refreshSession: { true })
            scheduler.start()
            await scene.simulation.advance(by: .seconds(2))
            let before = scene.readTimes.count
            for title in 1...20 {
                try await scene.client.from("tasks").update(["title": "\(title)"]).eq("id", value: "a").execute()
                await scene.simulation.advance(by: .seconds(1))
            }
            #expect(scene.readTimes.count == before)
            #expect(watch.emissions.last?.result?.first?.title == "20")
            #expect(watch.emissions.last?.hasPendingMutations == false)
            scheduler.stop()
            await scene.client.close()
        }
    }

    @Test func whatAFailedRunWasToAskTheNextOneAsksThoughItIsForAWrite() throws {
        try Simulation.run { simulation in
            let rig = await Self.online(simulation)
            await rig.fail()
            rig.client.outcome = {}
            rig.client.tell(depth: 1)
            await simulation.advance(by: .seconds(5))
            rig.client.tell(depth: 2)
            await simulation.advance(by: .seconds(5))
            #expect(rig.client.asked == [true, true, true, false])
        }
    }

    @Test func aDoorbellThatIsHeldOrFollowsARunForAWriteAsks() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) {
                $0.pollInterval = 0
                $0.tables = ["todos"]
            }
            rig.scheduler.start()
            await simulation.settle()
            rig.client.outcome = { try await simulation.environment.sleep(.seconds(1)) }
            rig.scheduler.wake(reason: .localWrite)
            await simulation.settle()
            rig.realtime.ring()
            rig.scheduler.wake(reason: .localWrite)
            await simulation.advance(by: .seconds(5))
            #expect(rig.client.asked == [true, false, true])
        }
    }

    // MARK: - The server asked to be left alone

    private static func leftAlone(_ simulation: Simulation, for asked: Duration) async -> SchedulerRig {
        let rig = SchedulerRig(simulation) {
            $0.monitorPath = true
            $0.pollInterval = 0
            $0.observeForeground = true
            $0.tables = ["todos"]
        }
        rig.scheduler.start()
        rig.path.report(true)
        await simulation.settle()
        await simulation.advance(by: .seconds(60))
        await rig.fail(Busy(retryAfter: asked))
        rig.client.outcome = {}
        return rig
    }

    @Test(arguments: ["path", "doorbell", "write", "poll"])
    func whatNoPersonAskedForWaitsAsLongAsTheServerAsks(_ wake: String) throws {
        try Simulation.run { simulation in
            let rig = await Self.leftAlone(simulation, for: .seconds(100))
            let before = rig.runs
            switch wake {
            case "path":
                rig.path.report(false)
                rig.path.report(true)
            case "doorbell": rig.realtime.ring()
            case "write": rig.client.tell(depth: 1)
            default: rig.scheduler.wake(reason: .poll)
            }
            await simulation.advance(by: .milliseconds(99_900))
            #expect(rig.runs == before)
            await simulation.advance(by: .milliseconds(200))
            #expect(rig.runs == before + 1)
        }
    }

    @Test(arguments: ["foreground", "wake", "session", "run", "start"])
    func whatAPersonAskedForDoesNotWait(_ wake: String) throws {
        try Simulation.run { simulation in
            let rig = await Self.leftAlone(simulation, for: .seconds(100))
            let before = rig.runs
            switch wake {
            case "foreground": rig.foreground.report()
            case "wake": rig.scheduler.wake()
            case "session": rig.scheduler.notifySession()
            case "run": #expect(await rig.scheduler.run())
            default:
                rig.scheduler.stop()
                rig.scheduler.monitorPath = false
                rig.scheduler.start()
            }
            await simulation.settle()
            #expect(rig.runs == before + 1)
        }
    }

    @Test func theFollowUpOfAStallWaitsTooWhereTheServerAsks() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.pollInterval = 10 }
            let gate = AsyncGate()
            rig.client.outcome = {
                await gate.wait()
                throw Busy(retryAfter: .seconds(50))
            }
            rig.scheduler.start()
            await simulation.advance(by: .seconds(11))
            #expect(rig.health.phase == .stalled)
            rig.client.outcome = {}
            gate.open()
            await simulation.advance(by: .milliseconds(49_900))
            #expect(rig.runs == 1)
            await simulation.advance(by: .seconds(1))
            #expect(rig.runs == 2)
        }
    }

    @Test func aRefreshOfTheSessionMayAskForItToo() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) {
                $0.pollInterval = 10
                $0.refresh = .detailed { .failed(Busy(retryAfter: .seconds(70))) }
            }
            rig.scheduler.start()
            await simulation.settle()
            #expect(rig.wait == 70)
        }
    }

    @Test func heldRunsOfManyDevicesAreKeptApart() throws {
        try Simulation.run { simulation in
            let rig = SchedulerRig(simulation) { $0.pollInterval = 15 }
            rig.scheduler.start()
            await simulation.settle()
            rig.jitter.withLock { $0 = 0.5 }
            await rig.fail(Busy(retryAfter: .seconds(100)))
            rig.client.outcome = {}
            rig.scheduler.wake(reason: .localWrite)
            let before = rig.runs
            await simulation.advance(by: .milliseconds(107_400))
            #expect(rig.runs == before)
            await simulation.advance(by: .milliseconds(200))
            #expect(rig.runs == before + 1)
        }
    }
}
