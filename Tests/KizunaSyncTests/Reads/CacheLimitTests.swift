import KizunaCore
import KizunaPostgREST
import KizunaSync
import KizunaSyncTesting
import Testing

/// What the device keeps when there is more than it may hold.
@Suite struct CacheLimitTests {
    private static func run(
        _ limit: @escaping @Sendable (inout KizunaSyncLimits) -> Void,
        _ body: @escaping @Sendable (ReadScene) async throws -> Void
    ) throws {
        var options = ReadScene.Options()
        options.configure = { limit(&$0.limits) }
        try ReadScene.run(options, body)
    }

    private static func fetch(_ scene: ReadScene, _ limit: Int) async throws {
        _ = try await scene.once(.networkOnly).limit(limit).execute()
        await scene.simulation.advance(by: .seconds(1))
    }

    /// Which of the lists `limit(1)`, `limit(2)` … are cached.
    private static func cached(_ scene: ReadScene, _ limits: ClosedRange<Int>) async -> [Int] {
        var found: [Int] = []
        for limit in limits {
            do {
                _ = try await scene.once(.cacheOnly).limit(limit).execute()
                found.append(limit)
            } catch {
                continue
            }
        }
        return found
    }

    @Test func theLeastRecentlyUsedListGoesFirst() throws {
        try Self.run({ $0.cachedQueries = 3 }) { scene in
            for limit in 1...3 { try await Self.fetch(scene, limit) }
            _ = try await scene.once(.cacheOnly).limit(1).execute()
            await scene.simulation.advance(by: .seconds(1))
            try await Self.fetch(scene, 4)
            #expect(await Self.cached(scene, 1...4) == [1, 3, 4])
        }
    }

    @Test func aListThatIsIteratedStaysWhateverItsAge() throws {
        try Self.run({ $0.cachedQueries = 2 }) { scene in
            let watch = scene.watch(scene.tasks().limit(1))
            let cacheOnly = scene.watch(scene.tasks(.cacheOnly).limit(2))
            await scene.simulation.advance(by: .seconds(1))
            try await Self.fetch(scene, 2)
            for limit in 3...6 { try await Self.fetch(scene, limit) }
            #expect(await Self.cached(scene, 1...6) == [1, 2])
            #expect(watch.lines.last == "[one] server @0.05 idle complete")
            #expect(cacheOnly.lines.last == "[one, two] cache @1.05 idle complete")
            watch.cancel()
            await scene.simulation.advance(by: .seconds(1))
            try await Self.fetch(scene, 7)
            #expect(await Self.cached(scene, 1...7) == [2, 7])
        }
    }

    @Test func theBytesOfAllListsAreBounded() throws {
        try Self.run({ $0.cacheBytes = 200 }) { scene in
            // Each list of two rows takes 79 bytes.
            for limit in 2...5 { try await Self.fetch(scene, limit) }
            #expect(await Self.cached(scene, 2...5) == [4, 5])
        }
    }

    @Test func anAnswerThatIsTooLargeIsDeliveredAndNotKept() throws {
        try Self.run({ $0.queryBytes = 60 }) { scene in
            #expect(await scene.outcome(.networkOnly) == "[one, two] server @0.05 idle")
            #expect(await scene.outcome(.cacheOnly) == "cache_miss")
            try await Self.fetch(scene, 1)
            #expect(await Self.cached(scene, 1...1) == [1])
        }
    }

    @Test func aLiveReadKeepsItsTooLargeListWhileItIsIterated() throws {
        try Self.run({ $0.queryBytes = 60 }) { scene in
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(1))
            try await Self.fetch(scene, 1)
            scene.transport.isOnline = false
            try await scene.client.from("tasks").insert(NewTask(title: "three", done: false))
            await scene.simulation.settle()
            #expect(watch.lines.last == "[one, two, three] server @0.05 pending idle")
            let late = scene.watch(scene.tasks())
            await scene.simulation.settle()
            #expect(late.lines == ["[one, two, three] server @0.05 pending idle"])
            scene.transport.isOnline = true
            watch.cancel()
            late.cancel()
            await scene.simulation.advance(by: .seconds(60))
            try await Self.fetch(scene, 1)
            #expect(await scene.outcome(.cacheOnly) == "cache_miss")
        }
    }

    @Test func theQueueIsNeverEvicted() throws {
        try Self.run({
            $0.cachedQueries = 0
            $0.cacheBytes = 0
        }) { scene in
            scene.transport.isOnline = false
            try await scene.client.from("tasks").insert(NewTask(title: "three", done: false))
            await scene.simulation.settle()
            try await scene.client.disableNetwork()
            scene.transport.isOnline = true
            #expect(await scene.outcome(.cacheOnly) == "[three] cache @never pending idle")
        }
    }
}
