import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

/// What `sync()` does for live reads: it brings what others changed (decision 051).
@Suite struct PullTests {
    private static let third = #"{"id":"c","title":"three","done":false}"#

    /// A scene in which these reads are up to date after one second.
    private static func run(
        _ strategies: [SequenceReadStrategy] = [.cacheFirstThenNetwork],
        _ body: @escaping @Sendable (ReadScene, [Watch<[TaskRow]>]) async throws -> Void
    ) throws {
        try ReadScene.run { scene in
            let watches = strategies.map { scene.watch(scene.tasks($0)) }
            await scene.simulation.advance(by: .seconds(1))
            try await body(scene, watches)
            await scene.client.close()
        }
    }

    /// The code of what `sync()` throws; nil where it succeeds.
    private static func outcome(_ client: KizunaSyncClient) async -> String? {
        do {
            try await client.sync()
            return nil
        } catch let error as SyncError {
            return error.code.rawValue
        } catch {
            return "\(type(of: error))"
        }
    }

    @Test func othersChangesAreBroughtWithoutAWordOfRefreshing() throws {
        try Self.run { scene, watches in
            let before = watches[0].lines
            try scene.server.insert(Self.third, into: "tasks")
            try await scene.client.sync()
            #expect(scene.readTimes == [0, 1])
            #expect(watches[0].lines == before + ["[one, two, three] server @1.05 idle"])
        }
    }

    @Test func aQueryIsAskedOnceHoweverManyIterateIt() throws {
        try Self.run([
            .cacheFirstThenNetwork, .cacheFirstThenNetwork, .networkFirstThenCache, .networkFirstThenCache, .cacheOnly,
        ]) { scene, watches in
            let before = scene.readTimes.count
            try scene.server.insert(Self.third, into: "tasks")
            try await scene.client.sync()
            await scene.simulation.settle()
            #expect(scene.readTimes.count == before + 1)
            for watch in watches { #expect(watch.lines.last?.hasPrefix("[one, two, three]") == true) }
            #expect(watches[4].lines.last == "[one, two, three] cache @1.05 idle")
        }
    }

    @Test func nothingIsAskedForReadsOfTheDeviceAlone() throws {
        try Self.run([.cacheOnly]) { scene, _ in
            try await scene.client.sync()
            #expect(scene.readTimes.isEmpty)
        }
    }

    @Test func nothingIsAskedForReadsThatHaveEnded() throws {
        try Self.run { scene, watches in
            watches[0].cancel()
            await scene.simulation.settle()
            try await scene.client.sync()
            #expect(scene.readTimes == [0])
        }
    }

    @Test func aRefreshUnderWayIsSharedAndWaitedFor() throws {
        try ReadScene.run { scene in
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .milliseconds(10))
            try await scene.client.sync()
            #expect(scene.simulation.elapsed == .milliseconds(50))
            #expect(scene.readTimes == [0])
            await scene.simulation.settle()
            #expect(watch.lines.last == "[one, two] server @0.05 idle")
        }
    }

    @Test func aReadThatHasNotBegunIsWaitedFor() throws {
        try ReadScene.run { scene in
            let watch = scene.watch(scene.tasks())
            let run = scene.simulation.start { try await scene.client.sync() }
            await scene.simulation.advance(by: .seconds(1))
            try await run.value
            #expect(scene.readTimes == [0])
            #expect(watch.lines.last == "[one, two] server @0.05 idle")
        }
    }

    @Test func aRefreshThatWaitsToBeTriedAgainIsTriedNow() throws {
        try ReadScene.run { scene in
            scene.transport.isOnline = false
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(30))
            #expect(watch.lines.last == "nil cache @never stalled(connectivity)")
            scene.transport.isOnline = true
            let before = scene.readTimes.count
            try await scene.client.sync()
            #expect(scene.readTimes.count == before + 1)
            await scene.simulation.settle()
            #expect(watch.lines.last == "[one, two] server @30.05 idle")
        }
    }

    @Test func aRefreshThatFailsFailsTheRun() throws {
        try ReadScene.run { scene in
            scene.transport.isOnline = false
            _ = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(30))
            let before = scene.readTimes.count
            #expect(await Self.outcome(scene.client) == "connectivity")
            #expect(scene.readTimes.count == before + 1)
        }
    }

    @Test(arguments: [SequenceReadStrategy.cacheFirstThenNetwork, .networkFirstThenCache])
    func aFailureIsTheRunsAndNotTheReads(_ strategy: SequenceReadStrategy) throws {
        try Self.run([strategy]) { scene, watches in
            let before = watches[0].lines
            scene.transport.isOnline = false
            #expect(await Self.outcome(scene.client) == "connectivity")
            scene.transport.isOnline = true
            scene.server.outage = SimulatedRejection(500, code: "XX000", message: "x")
            #expect(await Self.outcome(scene.client) == "server")
            scene.server.outage = nil
            await scene.simulation.advance(by: .seconds(60))
            #expect(watches[0].lines == before)
            #expect(watches[0].end == nil)
            #expect(await Self.outcome(scene.client) == nil)
        }
    }

    @Test func oneRefusedQueryDoesNotKeepTheOthersFromBeingAsked() throws {
        try ReadScene.run { scene in
            let watches = (1...9).map { scene.watch(scene.tasks().limit($0)) }
            await scene.simulation.advance(by: .seconds(1))
            try scene.server.insert(Self.third, into: "tasks")
            scene.transport.enqueue(.json(#"{"code":"42501","message":"no"}"#, status: 403))
            #expect(await Self.outcome(scene.client) == "server")
            await scene.simulation.settle()
            #expect(scene.readTimes.count == 18)
            #expect(watches.count { $0.lines.last?.contains("@0.05") == false } == 8)
        }
    }

    @Test func aServerInTroubleIsAskedOneQuestionPerRun() throws {
        try ReadScene.run { scene in
            for limit in 1...9 { _ = scene.watch(scene.tasks().limit(limit)) }
            await scene.simulation.advance(by: .seconds(1))
            scene.server.outage = SimulatedRejection(503, code: "x", message: "x")
            let before = scene.readTimes.count
            #expect(await Self.outcome(scene.client) == "server")
            #expect(scene.readTimes.count == before + 1)
            await scene.simulation.advance(by: .seconds(60))
            #expect(scene.readTimes.count == before + 1)
        }
    }

    @Test func theServersRetryAfterIsInTheError() throws {
        try Self.run { scene, _ in
            scene.transport.enqueue(
                .json("{}", status: 429, headers: ["retry-after": "77"]))
            do {
                try await scene.client.sync()
                Issue.record("it must throw")
            } catch let error as SyncError {
                #expect(error.retryAfter == .seconds(77))
            }
        }
    }

    @Test func atMostSixRequestsAreOutForOneRun() throws {
        try ReadScene.run { scene in
            for limit in 1...20 { _ = scene.watch(scene.tasks().limit(limit)) }
            await scene.simulation.advance(by: .seconds(1))
            let run = scene.simulation.start { try await scene.client.sync() }
            var most = 0
            for _ in 0..<40 {
                await scene.simulation.advance(by: .milliseconds(10))
                most = max(most, scene.transport.inFlightCount)
            }
            try await run.value
            #expect(most == 6)
            #expect(scene.readTimes.count == 40)
        }
    }

    @Test func overlappingCallsShareTheirRequests() throws {
        try Self.run { scene, _ in
            let runs = (0..<5).map { _ in scene.simulation.start { try await scene.client.sync() } }
            await scene.simulation.advance(by: .milliseconds(20))
            try await scene.client.sync()
            for run in runs { try await run.value }
            #expect(scene.readTimes == [0, 1])
        }
    }

    @Test func aCallThatComesAfterTheResponseAsksAnew() throws {
        try Self.run { scene, _ in
            try await scene.client.sync()
            try await scene.client.sync()
            #expect(scene.readTimes == [0, 1, 1.05])
        }
    }

    @Test func aCallerThatIsCancelledLeavesTheOthersTheirAnswer() throws {
        try Self.run { scene, watches in
            try scene.server.insert(Self.third, into: "tasks")
            let first = scene.simulation.start { try await scene.client.sync() }
            let second = scene.simulation.start { try await scene.client.sync() }
            await scene.simulation.advance(by: .milliseconds(20))
            first.cancel()
            await scene.simulation.settle()
            await #expect(throws: CancellationError.self) { try await first.value }
            try await second.value
            #expect(scene.readTimes == [0, 1])
            await scene.simulation.settle()
            #expect(watches[0].lines.last == "[one, two, three] server @1.05 idle")
        }
    }

    @Test func aCancelledRunCallsItsRequestOffAndLeavesTheStoreAsItWas() throws {
        try Self.run { scene, watches in
            let before = watches[0].lines
            try scene.server.insert(Self.third, into: "tasks")
            let run = scene.simulation.start { try await scene.client.sync() }
            await scene.simulation.advance(by: .milliseconds(20))
            #expect(scene.transport.inFlightCount == 1)
            run.cancel()
            await scene.simulation.settle()
            #expect(scene.transport.inFlightCount == 0)
            await scene.simulation.advance(by: .seconds(60))
            #expect(watches[0].lines == before)
            #expect(await scene.outcome(.cacheOnly) == "[one, two] cache @0.05 idle")
            try await scene.client.sync()
            await scene.simulation.settle()
            #expect(watches[0].lines.last?.hasPrefix("[one, two, three] server") == true)
        }
    }

    @Test func theDeadlineOfARunLeavesWritesQueuedAndReadsAsTheyWere() throws {
        try Self.run { scene, watches in
            let scheduler = KizunaSyncScheduler(
                client: scene.client, pollInterval: 0, monitorPath: false, refreshSession: { true })
            scheduler.runDeadline = .seconds(2)
            scene.transport.serve { _ in .hold }
            try await scene.client.from("tasks").insert(TaskRow(id: "c", title: "three", done: false))
            #expect(await !scheduler.run())
            #expect(scheduler.health().lastError?.code == "run_deadline")
            await scene.simulation.settle()
            #expect(watches[0].lines.last == "[one, two, three] server @0.05 pending idle")
            #expect(try await scene.client.outboxDepth() == 1)
            scene.transport.serve(scene.server)
            scene.transport.cutConnections()
            await scene.simulation.advance(by: .seconds(5))
            #expect(await scheduler.run())
            await scene.simulation.settle()
            #expect(try await scene.client.outboxDepth() == 0)
            #expect(scene.server.rows(of: "tasks").count == 3)
            #expect(watches[0].lines.last?.contains("pending") == false)
        }
    }

    @Test func writesGoBeforeQuestions() throws {
        try Self.run { scene, _ in
            try await scene.client.disableNetwork()
            try await scene.client.from("tasks").insert(TaskRow(id: "c", title: "three", done: false))
            let before = scene.transport.sent.count
            try await scene.client.enableNetwork()
            try await scene.client.sync()
            #expect(scene.transport.sent[before...].map(\.request.method).prefix(2) == ["POST", "GET"])
        }
    }

    @Test func whileWritesCannotBeSentNothingIsAsked() throws {
        try Self.run { scene, _ in
            scene.transport.isOnline = false
            try await scene.client.from("tasks").insert(TaskRow(id: "c", title: "three", done: false))
            await scene.simulation.settle()
            let before = scene.readTimes.count
            #expect(await Self.outcome(scene.client) == "connectivity")
            #expect(scene.readTimes.count == before)
        }
    }

    @Test func theSwitchAndTheSessionAreSaid() throws {
        try Self.run { scene, watches in
            try await scene.client.disableNetwork()
            #expect(await Self.outcome(scene.client) == "network_disabled")
            try await scene.client.enableNetwork()
            scene.session.current = .restoring
            await scene.simulation.settle()
            #expect(await Self.outcome(scene.client) == "session_not_settled")
            #expect(scene.readTimes == [0])
            #expect(watches[0].end == nil)
        }
    }

    @Test func anAnswerThatAWriteOvertookIsAskedForAgain() throws {
        try Self.run { scene, watches in
            let run = scene.simulation.start { try await scene.client.sync() }
            await scene.simulation.advance(by: .milliseconds(20))
            try await scene.client.from("tasks").insert(TaskRow(id: "c", title: "three", done: false)).delivered()
            try await run.value
            await scene.simulation.settle()
            #expect(watches[0].lines.last?.hasPrefix("[one, two, three] server") == true)
            #expect(watches[0].lines.allSatisfy { !$0.contains("[one, two] server @1") })
        }
    }

    @Test func aDoorbellBringsWhatAnotherDeviceWrote() throws {
        try Self.run { scene, watches in
            let doorbell = FakeRealtime()
            let scheduler = KizunaSyncScheduler(
                client: scene.client, pollInterval: 0, monitorPath: false, realtime: doorbell,
                realtimeTables: ["tasks"], refreshSession: { true })
            scheduler.start()
            await scene.simulation.advance(by: .seconds(5))
            try scene.server.insert(Self.third, into: "tasks")
            await scene.simulation.advance(by: .seconds(60))
            #expect(watches[0].lines.last?.hasPrefix("[one, two] server") == true)
            doorbell.ring()
            await scene.simulation.advance(by: .seconds(1))
            #expect(watches[0].lines.last?.hasPrefix("[one, two, three] server") == true)
            scheduler.stop()
        }
    }

    @Test(arguments: ["poll", "foreground", "path", "wake"])
    func everyWakeBringsIt(_ wake: String) throws {
        try Self.run { scene, watches in
            let scheduler = KizunaSyncScheduler(
                client: scene.client, pollInterval: wake == "poll" ? 10 : 0, monitorPath: false,
                refreshSession: { true })
            scheduler.start()
            await scene.simulation.advance(by: .seconds(1))
            try scene.server.insert(Self.third, into: "tasks")
            switch wake {
            case "poll": await scene.simulation.advance(by: .seconds(10))
            case "foreground": scheduler.notifyForeground()
            case "path": scheduler.notifyOnline()
            default: scheduler.wake()
            }
            await scene.simulation.advance(by: .seconds(1))
            #expect(watches[0].lines.last?.hasPrefix("[one, two, three] server") == true)
            scheduler.stop()
        }
    }
}
