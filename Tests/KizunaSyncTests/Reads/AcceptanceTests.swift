import KizunaCore
import KizunaPostgREST
import KizunaSync
import KizunaSyncTesting
import Testing

/// The assertions that follow from the pages, by their numbers in the specification (docs/spec/reads.md, Acceptance
/// list), 1 to 11.
@Suite struct ReadAcceptanceTests {
    @Test func acceptance01InstantFailuresStallAtTheFourthAttemptAndGoOnAMinuteApart() throws {
        try ReadScene.run { scene in
            scene.transport.isOnline = false
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .milliseconds(3_599))
            #expect(watch.lines == ["nil cache @never refreshing"])
            await scene.simulation.advance(by: .milliseconds(1))
            #expect(watch.lines.last == "nil cache @never stalled(connectivity)")
            await scene.simulation.advance(by: .seconds(141))
            #expect(scene.readTimes == [0, 0.3, 1.2, 3.6, 8.6, 23.6, 83.6, 143.6])
        }
    }

    @Test func acceptance02KnownDownIsPausedAndGoesIdleOnReturn() throws {
        try ReadScene.run { scene in
            scene.transport.isOnline = false
            scene.path.isSatisfied = false
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(100))
            #expect(watch.lines == ["nil cache @never paused"])
            scene.transport.isOnline = true
            scene.path.isSatisfied = true
            await scene.simulation.advance(by: .seconds(1))
            #expect(
                watch.lines == [
                    "nil cache @never paused", "nil cache @never refreshing", "[one, two] server @100.05 idle",
                ])
        }
    }

    @Test func acceptance03TheCauseStaysTheFourthFailure() throws {
        try ReadScene.run { scene in
            scene.transport.isOnline = false
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(4))
            scene.transport.isOnline = true
            scene.server.outage = SimulatedRejection(500, code: "XX000", message: "broken")
            await scene.simulation.advance(by: .seconds(20))
            #expect(scene.readTimes.count == 6)
            #expect(watch.emissions.map(\.refresh) == [.refreshing, .stalled(.offline("there is no connection"))])
        }
    }

    @Test func acceptance04TwoIterationsShareOneRequestAndANewOneAsksAgain() throws {
        try ReadScene.run { scene in
            let first = scene.watch(scene.tasks())
            let second = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(1))
            #expect(first.lines == ["nil cache @never refreshing", "[one, two] server @0.05 idle"])
            #expect(second.lines == first.lines)
            #expect(scene.readTimes == [0])
            let late = scene.watch(scene.tasks())
            await scene.simulation.settle()
            #expect(late.lines == ["[one, two] server @0.05 idle"])
            for watch in [first, second, late] { watch.cancel() }
            await scene.simulation.settle()
            let next = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(1))
            #expect(next.lines == ["[one, two] cache @0.05 refreshing", "[one, two] server @1.05 idle"])
            #expect(scene.readTimes == [0, 1])
        }
    }

    @Test func acceptance05ASuccessIsFollowedByNoRequestForAnHour() throws {
        try ReadScene.run { scene in
            let watches = SequenceReadStrategy.allCases.map { scene.watch(scene.tasks($0)) }
            await scene.simulation.advance(by: .seconds(3_601))
            #expect(scene.readTimes == [0, 0])
            #expect(watches.allSatisfy { $0.end == nil })
        }
    }

    @Test func acceptance06AnAnswerOlderThanAWriteIsRefusedAndAskedAgain() throws {
        try ReadScene.run { scene in
            scene.server.latency = .seconds(1)
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .milliseconds(100))
            scene.server.latency = .milliseconds(10)
            let receipt = try await scene.client.from("tasks").insert(NewTask(title: "three", done: false))
            _ = try await receipt.delivered()
            await scene.simulation.advance(by: .seconds(10))
            #expect(
                watch.lines == [
                    "nil cache @never refreshing", "[three] cache @never pending refreshing",
                    "nil cache @never refreshing", "[one, two, three] server @1.01 idle",
                ])
            #expect(scene.readTimes == [0, 1])
        }
    }

    @Test func acceptance07AnAnswerOlderThanAClearIsRefusedAndOnlyTheClearAsksAgain() throws {
        try ReadScene.run { scene in
            try await scene.warmUp()
            scene.server.latency = .seconds(1)
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .milliseconds(100))
            scene.server.latency = .seconds(3)
            try await scene.client.clearLocalData()
            await scene.simulation.advance(by: .seconds(60))
            #expect(
                watch.lines == [
                    "[one, two] cache @0.05 refreshing", "nil cache @never refreshing",
                    "[one, two] server @3.15 idle",
                ])
            #expect(scene.readTimes == [0, 0.05, 0.15])
        }
    }

    @Test func acceptance07AnAnswerOlderThanAChangeOfOwnerIsNotWrittenAndAskedAgain() throws {
        var options = ReadScene.Options()
        options.ownerColumn = "user_id"
        options.rows = """
            [{"id":"a","title":"hers","done":false,"user_id":"alice"},{"id":"b","title":"his","done":false,"user_id":"bob"}]
            """
        options.initialSession = .signedIn(userID: "alice", accessToken: TestToken.make(userID: "alice"))
        try ReadScene.run(options) { scene in
            scene.server.latency = .seconds(1)
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .milliseconds(100))
            scene.session.signIn("bob")
            await scene.simulation.advance(by: .seconds(60))
            #expect(watch.lines == ["nil cache @never refreshing", "[his] server @1.1 idle"])
            #expect(scene.readTimes == [0, 0.1])
        }
    }

    @Test func acceptance08OfflineColdEachStrategyDoesWhatItSays() throws {
        try ReadScene.run { scene in
            scene.transport.isOnline = false
            let cacheFirst = scene.watch(scene.tasks())
            let networkFirst = scene.watch(scene.tasks(.networkFirstThenCache))
            let cacheOnly = scene.watch(scene.tasks(.cacheOnly))
            await scene.simulation.advance(by: .seconds(60))
            #expect(cacheFirst.lines == ["nil cache @never refreshing", "nil cache @never stalled(connectivity)"])
            #expect(cacheFirst.end == nil)
            #expect(networkFirst.lines == [])
            #expect(networkFirst.end == "connectivity")
            #expect(cacheOnly.lines == ["nil cache @never idle"])
        }
    }

    @Test func acceptance09OfflineWarmNetworkFirstBeginsCachedAndStalled() throws {
        try ReadScene.run { scene in
            try await scene.warmUp()
            scene.transport.isOnline = false
            let watch = scene.watch(scene.tasks(.networkFirstThenCache))
            await scene.simulation.advance(by: .seconds(60))
            #expect(watch.lines == ["[one, two] cache @0.05 stalled(connectivity)"])
        }
    }

    @Test func acceptance10AServerErrorLeavesCacheFirstItsRowsAndFailsNetworkFirst() throws {
        try ReadScene.run { scene in
            try await scene.warmUp()
            scene.server.outage = SimulatedRejection(500, code: "XX000", message: "broken")
            let cacheFirst = scene.watch(scene.tasks())
            let networkFirst = scene.watch(scene.tasks(.networkFirstThenCache))
            await scene.simulation.advance(by: .seconds(1))
            #expect(cacheFirst.lines == ["[one, two] cache @0.05 refreshing"])
            #expect(networkFirst.end == "server")
        }
    }

    @Test func acceptance11RestoringShowsRowsHoldsRequestsAndDropsThemWhenSignedOut() throws {
        var options = ReadScene.Options()
        options.initialSession = .signedIn(userID: "alice", accessToken: TestToken.make(userID: "alice"))
        try ReadScene.run(options) { scene in
            try await scene.warmUp()
            scene.session.current = .restoring
            await scene.simulation.settle()
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(5))
            #expect(scene.readTimes == [0])
            try scene.server.delete("a", of: "tasks")
            scene.session.signOut()
            await scene.simulation.advance(by: .seconds(1))
            #expect(
                watch.lines == [
                    "[one, two] cache @0.05 refreshing", "nil cache @never refreshing", "[two] server @5.1 idle",
                ])
        }
    }
}

/// The assertions 12 to 20.
@Suite struct WriteAndLifeAcceptanceTests {
    @Test func acceptance12AQueuedChangeMovesARowFromTheOpenListToTheDoneListAtOnce() throws {
        try ReadScene.run { scene in
            let open = scene.watch(scene.tasks().eq("done", value: false))
            let done = scene.watch(scene.tasks().eq("done", value: true))
            await scene.simulation.advance(by: .seconds(1))
            scene.transport.isOnline = false
            try await scene.client.from("tasks").update(["done": true]).eq("id", value: "a").execute()
            await scene.simulation.settle()
            #expect(open.lines.suffix(2) == ["[one, two] server @0.05 idle", "[two] server @0.05 pending idle"])
            #expect(
                done.lines.suffix(2) == ["[] server @0.05 idle complete", "[one] server @0.05 pending idle complete"])
        }
    }

    @Test func acceptance13AQueuedInsertComesLastShowsInEverySearchAndAloneInAnUncachedQuery() throws {
        try ReadScene.run { scene in
            let all = scene.watch(scene.tasks().order("title"))
            let search = scene.watch(scene.tasks().ilike("title", pattern: "%w%"))
            await scene.simulation.advance(by: .seconds(1))
            scene.transport.isOnline = false
            try await scene.client.from("tasks").insert(NewTask(title: "abc", done: false))
            await scene.simulation.settle()
            let uncached = scene.watch(scene.tasks(.cacheOnly).eq("done", value: false))
            await scene.simulation.settle()
            #expect(all.lines.last == "[one, two, abc] server @0.05 pending idle")
            #expect(search.lines.last == "[two, abc] server @0.05 pending idle")
            #expect(uncached.lines == ["[abc] cache @never pending idle"])
        }
    }

    @Test func acceptance14AStaleMarkTurnsFromCacheAndCausesExactlyOneRefresh() throws {
        try ReadScene.run { scene in
            let watch = scene.watch(scene.tasks().order("title", ascending: false))
            await scene.simulation.advance(by: .seconds(1))
            // The place of a new row in an ordered list is the server's to say.
            let receipt = try await scene.client.from("tasks").insert(NewTask(title: "zzz", done: false))
            _ = try await receipt.delivered()
            await scene.simulation.advance(by: .seconds(3600))
            #expect(
                watch.lines == [
                    "nil cache @never refreshing", "[two, one] server @0.05 idle",
                    "[two, one, zzz] server @0.05 pending idle", "[two, one, zzz] cache @0.05 refreshing",
                    "[zzz, two, one] server @1.1 idle",
                ])
            #expect(scene.readTimes == [0, 1.05])
        }
    }

    @Test func acceptance15AShapeThatIsNotCacheableAnswersOnceOrFails() throws {
        try ReadScene.run { scene in
            let sequence = scene.client.from("tasks").selectAsSequence(as: TaskRow.self).eq("id", value: "a").single()
            let online = scene.watch(sequence)
            await scene.simulation.advance(by: .seconds(1))
            #expect(online.emissions.map(\.fields) == ["server @0.05 idle"])
            #expect(online.end == "completed")
            scene.transport.isOnline = false
            let offline = scene.watch(sequence)
            let cacheOnly = scene.watch(scene.tasks(.cacheOnly).select(count: .exact))
            await scene.simulation.advance(by: .seconds(1))
            #expect(offline.end == "connectivity")
            #expect(cacheOnly.end == "cache_miss")
            #expect(scene.readTimes == [0, 1])
        }
    }

    @Test func acceptance16ASlowReaderGetsFewListsEndsOnTheLastAndDelaysNobody() throws {
        try ReadScene.run { scene in
            scene.transport.isOnline = false
            let fast = scene.watch(scene.tasks())
            let slow = scene.tasks().makeAsyncIterator()
            _ = try await slow.next()
            for number in 1...1_000 {
                try await scene.client.from("tasks").insert(NewTask(title: "\(number)", done: false))
            }
            await scene.simulation.settle()
            #expect(fast.emissions.count > 500)
            #expect(fast.emissions.last?.result?.count == 1_000)
            let next = try await slow.next()
            #expect(next == fast.emissions.last)
        }
    }

    @Test func acceptance17ClosingCompletesWhatIsIteratedAndLaterIterationsThrow() throws {
        try ReadScene.run { scene in
            let watches = SequenceReadStrategy.allCases.map { scene.watch(scene.tasks($0)) }
            await scene.simulation.advance(by: .milliseconds(20))
            await scene.client.close()
            await scene.simulation.settle()
            #expect(watches.map(\.end) == ["completed", "completed", "completed"])
            #expect(watches.map(\.lines) == [["nil cache @never refreshing"], [], ["nil cache @never idle"]])
            let late = scene.watch(scene.tasks())
            await scene.simulation.settle()
            #expect(late.end == "closed")
        }
    }

    @Test func acceptance18AnUntrustedEmptyAnswerStaysRefreshingAMinuteApartUntilASignIn() throws {
        var options = ReadScene.Options()
        options.ownerColumn = "user_id"
        options.rows = #"{"id":"a","title":"hers","done":false,"user_id":"alice"}"#
        options.configure = { $0.responseTrust = .authenticatedSessionOnly }
        try ReadScene.run(options) { scene in
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(600))
            #expect(watch.lines == ["nil cache @never refreshing"])
            let gaps = zip(scene.readTimes, scene.readTimes.dropFirst()).map { $1 - $0 }
            #expect(gaps.count > 12)
            #expect(gaps.allSatisfy { $0 <= 60.1 })
            scene.session.signIn("alice")
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.lines == ["nil cache @never refreshing", "[hers] server @600.05 idle"])
            try scene.server.delete("a", of: "tasks")
            let signedIn = scene.watch(scene.tasks().eq("done", value: false))
            await scene.simulation.advance(by: .seconds(1))
            #expect(signedIn.lines.last == "[] server @601.05 idle complete")
        }
    }

    @Test func acceptance18RowsEndTheWaitOfASignedOutReadToo() throws {
        var options = ReadScene.Options()
        options.rows = "[]"
        options.configure = { $0.responseTrust = .authenticatedSessionOnly }
        try ReadScene.run(options) { scene in
            let watch = scene.watch(scene.tasks())
            let once = await scene.outcome(.networkOnly)
            #expect(once == "[] server @0.05 idle")
            #expect(await scene.outcome(.cacheOnly) == "cache_miss")
            await scene.simulation.advance(by: .seconds(10))
            try scene.server.insert(#"{"id":"a","title":"one","done":false}"#, into: "tasks")
            await scene.simulation.advance(by: .seconds(60))
            #expect(watch.lines.count == 2)
            #expect(watch.lines.last?.hasPrefix("[one] server") == true)
        }
    }

    @Test func acceptance19WhileTheNetworkIsSwitchedOffNothingIsSentAndThenOneAtOnce() throws {
        try ReadScene.run { scene in
            try await scene.client.disableNetwork()
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(600))
            #expect(scene.transport.sent.isEmpty)
            try await scene.client.enableNetwork()
            await scene.simulation.advance(by: .seconds(1))
            #expect(scene.readTimes == [600])
            #expect(
                watch.lines == [
                    "nil cache @never paused", "nil cache @never refreshing", "[one, two] server @600.05 idle",
                ])
        }
    }

    @Test func acceptance20ANetworkOnlyReadShowsInEveryLiveReadOfTheQuery() throws {
        try ReadScene.run { scene in
            let watches = SequenceReadStrategy.allCases.map { scene.watch(scene.tasks($0)) }
            await scene.simulation.advance(by: .seconds(1))
            try scene.server.insert(#"{"id":"c","title":"three","done":false}"#, into: "tasks")
            let once = await scene.outcome(.networkOnly)
            await scene.simulation.settle()
            #expect(once == "[one, two, three] server @1.05 idle")
            #expect(
                watches.map(\.lines.last) == [
                    "[one, two, three] server @1.05 idle", "[one, two, three] server @1.05 idle",
                    "[one, two, three] cache @1.05 idle",
                ])
        }
    }

    @Test func aWriteWhoseAnswerIsLostReachesTheServerExactlyOnce() throws {
        try ReadScene.run { scene in
            scene.transport.plant(.dropResponse)
            let receipt = try await scene.client.from("tasks").insert(NewTask(title: "three", done: false))
            let delivered = try await receipt.delivered()
            #expect(delivered.rows.count == 1)
            #expect(scene.server.mutations.filter { $0.row.contains("three") }.count == 1)
            #expect(scene.transport.sent.map(\.request.method) == ["POST", "POST", "GET"])
        }
    }
}
