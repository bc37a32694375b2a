import KizunaCore
import KizunaPostgREST
import KizunaSync
import KizunaSyncTesting
import Testing

/// Collectors of one query: what they share, and how they come and go.
@Suite struct SharingTests {
    @Test func aCollectorThatLeavesDoesNotDisturbTheOthers() throws {
        try ReadScene.run { scene in
            let first = scene.watch(scene.tasks())
            let second = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .milliseconds(20))
            first.cancel()
            await scene.simulation.advance(by: .seconds(1))
            #expect(first.end == "CancellationError")
            #expect(second.lines == ["nil cache @never refreshing", "[one, two] server @0.05 idle"])
            #expect(scene.readTimes == [0])
        }
    }

    @Test func anIteratorThatIsDroppedLeavesTheSharedRead() throws {
        try ReadScene.run { scene in
            func firstLine() async throws -> String? {
                let iterator = scene.tasks().makeAsyncIterator()
                let line = try await iterator.next()?.line
                await scene.simulation.advance(by: .milliseconds(20))
                return withExtendedLifetime(iterator) { line }
            }
            let first = try await firstLine()
            #expect(first == "nil cache @never refreshing")
            await scene.simulation.advance(by: .seconds(1))
            // Nobody was left to take the answer.
            #expect(await scene.outcome(.cacheOnly) == "cache_miss")
            #expect(scene.transport.inFlightCount == 0)
            let second = try await firstLine()
            #expect(second == "nil cache @never refreshing")
            #expect(scene.readTimes == [0, 1.02])
        }
    }

    @Test func oneSequenceCanBeIteratedAgainAndRefreshesEachTime() throws {
        try ReadScene.run { scene in
            let sequence = scene.tasks()
            for round in 0..<3 {
                let watch = scene.watch(sequence)
                await scene.simulation.advance(by: .seconds(1))
                watch.cancel()
                await scene.simulation.settle()
                #expect(watch.lines.last == "[one, two] server @\(round).05 idle")
            }
            #expect(scene.readTimes == [0, 1, 2])
        }
    }

    @Test func queriesThatDifferShareNothingAndEachHasARequestOfItsOwn() throws {
        try ReadScene.run { scene in
            let watches = [
                scene.watch(scene.tasks().limit(1)), scene.watch(scene.tasks().limit(2)),
                scene.watch(scene.tasks().in("id", values: ["a", "b"])),
                scene.watch(scene.tasks().in("id", values: ["b", "a"])),
                scene.watch(scene.tasks().eq("done", value: false).neq("id", value: "z")),
                scene.watch(scene.tasks().neq("id", value: "z").eq("done", value: false)),
            ]
            await scene.simulation.advance(by: .seconds(1))
            #expect(watches.allSatisfy { $0.lines.last?.contains("server @0.05 idle") == true })
            // The order of filters does not matter, that of a list does.
            #expect(scene.readTimes.count == 5)
        }
    }

    @Test func networkFirstReadsShareNothingAndEachAsks() throws {
        try ReadScene.run { scene in
            let watches = (1...3).map { _ in scene.watch(scene.tasks(.networkFirstThenCache)) }
            await scene.simulation.advance(by: .seconds(1))
            #expect(watches.allSatisfy { $0.lines.count <= 2 && $0.lines.last == "[one, two] server @0.05 idle" })
            #expect(scene.readTimes == [0, 0, 0])
        }
    }

    @Test func anEndComesAfterTheValuesBeforeItAndIsTheLast() throws {
        try ReadScene.run { scene in
            let iterator = scene.client.from("tasks").selectAsSequence(as: [NumberRow].self).makeAsyncIterator()
            let first = try await iterator.next()
            #expect(first?.fields == "cache @never refreshing")
            await scene.simulation.advance(by: .seconds(1))
            // The tasks' ids are no numbers.
            await #expect(throws: SyncError.self) { _ = try await iterator.next() }
            let after = try await iterator.next()
            #expect(after == nil)
            // The stored bytes are kept, and the failed iteration holds nothing.
            #expect(await scene.outcome(.cacheOnly) == "[one, two] cache @0.05 idle")
        }
    }

    @Test func aChangeThatShowsNothingNewIsNotRepeated() throws {
        try ReadScene.run { scene in
            let watch = scene.watch(scene.tasks().eq("done", value: true))
            await scene.simulation.advance(by: .seconds(1))
            scene.transport.isOnline = false
            try await scene.client.from("tasks").insert(NewTask(title: "open", done: false))
            try await scene.client.from("lists").insert(NewTask(title: "elsewhere", done: true))
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.lines == ["nil cache @never refreshing", "[] server @0.05 idle complete"])
        }
    }

    @Test(arguments: 1...40)
    func noCollectorSeesAnOlderListAfterANewerOneInAnyInterleaving(seed: Int) throws {
        try ReadScene.run(seed: UInt64(seed), interleaving: .shuffled) { scene in
            let watches = (1...3).map { _ in scene.watch(scene.tasks()) }
            await scene.simulation.advance(by: .seconds(1))
            let late = scene.watch(scene.tasks())
            scene.transport.isOnline = false
            await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...20 {
                    group.addTask {
                        try await scene.client.from("tasks").insert(NewTask(title: "\(number)", done: false))
                    }
                }
            }
            await scene.simulation.advance(by: .seconds(1))
            for watch in watches + [late] {
                let counts = watch.emissions.map { $0.result?.count ?? 0 }
                #expect(counts == counts.sorted())
                #expect(watch.emissions.last == late.emissions.last)
                #expect(counts.last == 22)
            }
            #expect(scene.readTimes == [0])
        }
    }

    @Test(arguments: 1...40)
    func joiningAndLeavingInAnyInterleavingNeverEndsAnotherCollector(seed: Int) throws {
        try ReadScene.run(seed: UInt64(seed), interleaving: .shuffled) { scene in
            for _ in 1...6 {
                let leaving = scene.watch(scene.tasks())
                await scene.simulation.advance(by: .milliseconds(60))
                leaving.cancel()
                let staying = scene.watch(scene.tasks())
                await scene.simulation.advance(by: .milliseconds(200))
                #expect(staying.end == nil)
                #expect(staying.lines.last?.hasSuffix("idle") == true)
                staying.cancel()
                await scene.simulation.settle()
            }
        }
    }

    @Test(arguments: 1...40)
    func signingInAndOutInAnyInterleavingEndsOnTheRightRows(seed: Int) throws {
        var options = ReadScene.Options()
        options.ownerColumn = "user_id"
        options.rows = """
            [{"id":"a","title":"alice","done":false,"user_id":"alice"},{"id":"b","title":"bob","done":false,"user_id":"bob"}]
            """
        try ReadScene.run(options, seed: UInt64(seed), interleaving: .shuffled) { scene in
            let watch = scene.watch(scene.tasks())
            var random = scene.simulation.forkRandom()
            for _ in 1...12 {
                switch random.next() % 4 {
                case 0: scene.session.signIn("alice")
                case 1: scene.session.signIn("bob")
                case 2: scene.session.signOut()
                default: scene.session.current = .restoring
                }
                await scene.simulation.advance(by: .milliseconds(Int64(random.next() % 70)))
            }
            scene.session.signIn("bob")
            await scene.simulation.advance(by: .seconds(100))
            #expect(watch.lines.last?.hasPrefix("[bob] server") == true)
            #expect(watch.emissions.allSatisfy { ($0.result?.count ?? 0) < 2 })
        }
    }
}
