import KizunaCore
import KizunaPostgREST
import KizunaSync
import KizunaSyncTesting
import Testing

/// Old answers never replace newer knowledge: after a clear, another owner, or a change of the table.
@Suite struct MarkTests {
    @Test func clearingDropsRowsAndQueueAtOnceAndAsksAnew() throws {
        try ReadScene.run { scene in
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(1))
            scene.transport.isOnline = false
            try await scene.client.from("tasks").insert(NewTask(title: "three", done: false))
            await scene.simulation.settle()
            scene.transport.isOnline = true
            try await scene.client.clearLocalData()
            await scene.simulation.advance(by: .seconds(60))
            #expect(
                watch.lines == [
                    "nil cache @never refreshing", "[one, two] server @0.05 idle",
                    "[one, two, three] server @0.05 pending idle", "nil cache @never refreshing",
                    "[one, two] server @1.05 idle",
                ])
            #expect(scene.server.mutations.count == 2)
        }
    }

    @Test func clearingWithTheQueueKeptShowsTheQueuedRowsAlone() throws {
        try ReadScene.run { scene in
            try await scene.warmUp()
            scene.transport.isOnline = false
            try await scene.client.from("tasks").insert(NewTask(title: "three", done: false))
            try await scene.client.clearLocalData(keepingQueue: true)
            #expect(await scene.outcome(.cacheOnly) == "[three] cache @never pending idle")
        }
    }

    @Test func aOneShotReadUnderWayAtAClearIsDroppedAndNotAskedAgain() throws {
        try ReadScene.run { scene in
            let read = scene.simulation.start { await scene.outcome(.networkOnly) }
            await scene.simulation.advance(by: .milliseconds(20))
            try await scene.client.clearLocalData()
            let outcome = try await read.value
            #expect(outcome == "cache_miss")
            #expect(await scene.outcome(.cacheOnly) == "cache_miss")
            #expect(scene.readTimes == [0])
        }
    }

    @Test func aOneShotReadOlderThanAWriteIsAskedAgain() throws {
        try ReadScene.run { scene in
            scene.server.latency = .seconds(1)
            let read = scene.simulation.start { await scene.outcome(.networkOnly) }
            await scene.simulation.advance(by: .milliseconds(20))
            scene.server.latency = .milliseconds(10)
            _ = try await scene.client.from("tasks").insert(NewTask(title: "three", done: false)).delivered()
            let outcome = try await read.value
            #expect(outcome == "[one, two, three] server @1.01 idle")
            #expect(scene.readTimes == [0, 1])
        }
    }

    @Test func aNewerAnswerOfTheSameQueryIsNotReplacedByAnOlderOne() throws {
        try ReadScene.run { scene in
            scene.server.latency = .seconds(2)
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .milliseconds(500))
            scene.server.latency = .milliseconds(10)
            try scene.server.insert(#"{"id":"c","title":"three","done":false}"#, into: "tasks")
            #expect(await scene.outcome(.networkOnly) == "[one, two, three] server @0.51 idle")
            await scene.simulation.advance(by: .seconds(10))
            #expect(
                watch.lines == [
                    "nil cache @never refreshing", "[one, two, three] cache @0.51 refreshing",
                    "[one, two, three] server @0.51 idle",
                ])
        }
    }

    @Test func aStormOfWritesNeitherSpinsNorStallsAndEndsOnTheTruth() throws {
        try ReadScene.run { scene in
            let watch = scene.watch(scene.tasks().order("title"))
            await scene.simulation.advance(by: .seconds(1))
            // A write is accepted every 20 ms, so every answer of 50 ms is older than the table.
            for number in 1...200 {
                try await scene.client.from("tasks").insert(NewTask(title: "w\(1_000 + number)", done: false))
                await scene.simulation.advance(by: .milliseconds(20))
            }
            let during = scene.readTimes.count
            // Three refusals of 50 ms and a pause of 300 ms: at most seven a second.
            #expect(during <= 4 * 8 + 2)
            await scene.simulation.advance(by: .seconds(10))
            #expect(watch.emissions.allSatisfy { $0.refresh == .idle || $0.refresh == .refreshing })
            #expect(watch.emissions.last?.result?.count == 202)
            #expect(watch.lines.last?.hasSuffix("idle") == true)
            #expect(watch.emissions.last?.isFromCache == false)
            #expect(scene.readTimes.count <= during + 3)
        }
    }

    @Test func anAnswerOfAFormerOwnerIsNeverShownToTheNextOne() throws {
        var options = ReadScene.Options()
        options.ownerColumn = "user_id"
        options.rows = #"[{"id":"a","title":"hers","done":false,"user_id":"alice"}]"#
        options.initialSession = .signedIn(userID: "alice", accessToken: TestToken.make(userID: "alice"))
        try ReadScene.run(options) { scene in
            for strategy in SequenceReadStrategy.allCases {
                scene.session.signIn("alice")
                let watch = scene.watch(scene.tasks(strategy))
                await scene.simulation.advance(by: .seconds(1))
                scene.session.signIn("bob")
                await scene.simulation.settle()
                let since = watch.lines.count - 1
                await scene.simulation.advance(by: .seconds(1))
                #expect(watch.lines.dropFirst(since).allSatisfy { !$0.contains("hers") })
                watch.cancel()
            }
        }
    }
}
