import KizunaCore
import KizunaStore
import Testing

/// Responses that several processes store, and the eviction of their lists.
@Suite struct SharedResponsesTests {
    @Test func aResponseRequestedBeforeAnExternalDeliveryIsNotStored() async throws {
        let scene = try SharedScene()
        let (one, two) = try scene.pair()
        let early = two.logicalClock.next()
        _ = try await one.store.enqueue([try insertion("a")], limit: 10)
        try await one.store.settle(["insert-a"], table: tasks, rows: [:], keys: []) { _, _ in CachedQueryEdit() }
        #expect(try await two.store.store(try scene.response("[]", at: early)) == .olderThanTable)
        #expect(try await two.store.store(try scene.response("[]", at: two.logicalClock.next())) == .stored)
    }

    @Test func aResponseStoredByAnotherProcessSupersedesNoLaterOne() async throws {
        let scene = try SharedScene()
        let (one, two) = try scene.pair()
        let early = two.logicalClock.next()
        _ = try await one.store.store(try scene.response(#"[{"id":"a"}]"#, at: one.logicalClock.next()))
        #expect(try await two.store.store(try scene.response("[]", at: early)) == .stored)
    }

    @Test func aResponseOlderThanAnExternalOneIsSuperseded() async throws {
        let scene = try SharedScene()
        let (one, two) = try scene.pair()
        let early = try scene.response(#"[{"id":"old"}]"#, at: two.logicalClock.next())
        scene.advance(by: .milliseconds(1))
        _ = try await one.store.store(try scene.response(#"[{"id":"new"}]"#, at: one.logicalClock.next()))
        #expect(try await two.store.store(early) == .superseded)
        #expect(texts(try await two.store.list(cacheKey: "all", usedAt: day(5))) == [#"{"id":"new"}"#])
    }

    @Test func aTimeFromBeforeARebootSupersedesNothing() async throws {
        let scene = try SharedScene()
        let (one, two) = try scene.pair()
        let late = try scene.response(#"[{"id":"a"}]"#, asked: .seconds(90_000), at: one.logicalClock.next())
        _ = try await one.store.store(late)
        #expect(try await two.store.store(try scene.response("[]", at: two.logicalClock.next())) == .stored)
    }

    @Test func aListOfARunningProcessIsNotRemoved() async throws {
        let scene = try SharedScene()
        let (one, two) = try scene.pair()
        _ = try await one.store.store(try scene.response(#"[{"id":"a"}]"#, at: one.logicalClock.next()))
        #expect(try await two.store.evict(maximumBytes: 0, maximumLists: 0, keeping: []) == 0)
        scene.kill(1)
        #expect(try await two.store.evict(maximumBytes: 0, maximumLists: 0, keeping: []) == 1)
    }

    @Test func aShownListRemovedByAnotherProcessIsStale() async throws {
        let scene = try SharedScene()
        let (one, two) = try scene.pair()
        _ = try await one.store.store(try scene.response(#"[{"id":"a"}]"#, at: one.logicalClock.next()))
        _ = try await two.look()
        #expect(try await one.store.evict(maximumBytes: 0, maximumLists: 0, keeping: []) == 1)
        let news = try #require(try await two.look())
        guard case .edited(let edit) = news.lists["all"] else {
            Issue.record("the removal was not told")
            return
        }
        #expect(edit.becomesStale && edit.removed.isEmpty)
    }

    @Test func readsContinueWhileAnotherProcessHoldsTheWriteLock() async throws {
        let scene = try SharedScene()
        let one = try scene.process(1)
        _ = try await one.store.store(try scene.response(#"[{"id":"a"}]"#, at: one.logicalClock.next()))
        let other = try RawStore(scene.path)
        try other.execute("BEGIN IMMEDIATE")
        let image = try await one.store.image(cacheKey: "all", table: tasks, usedAt: day(5))
        #expect(image.list?.rows.count == 1)
        try other.execute("ROLLBACK")
        other.close()
    }
}
