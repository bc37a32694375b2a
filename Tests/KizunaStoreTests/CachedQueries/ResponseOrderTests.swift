import KizunaCore
import KizunaStore
import Testing

/// Which answers are stored at all: an answer that is older than what the device knows is not (docs/spec/reads.md,
/// Order of responses and changes).
@Suite struct ResponseOrderTests {
    @Test func anAnswerAskedForBeforeADeliveredWriteIsRefused() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        let early = scene.ask()
        _ = try await store.enqueue([try insertion("a")], limit: 10)
        try await store.settle(["insert-a"], table: tasks, rows: [:], keys: []) { _, _ in CachedQueryEdit() }
        #expect(try await store.store(try scene.response("[]", at: early)) == .olderThanTable)
        #expect(try await store.list(cacheKey: "all", usedAt: day(5)) == nil)
        #expect(try await store.store(try scene.response("[]")) == .stored)
        await store.close()
    }

    @Test func aWriteToAnEmbeddedTableCountsToo() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        let early = scene.ask()
        try await store.markTableStale(TableID(name: "projects"))
        let plain = try scene.response("[]", at: early)
        let embedding = CachedQueryResponse(
            cacheKey: "embedding", table: tasks, mayShow: { $0.name == "projects" }, parameters: [],
            body: plain.body, rows: plain.rows, askedAt: early, fetchedAt: day(2))
        #expect(try await store.store(embedding) == .olderThanTable)
        #expect(try await store.store(plain) == .stored)
        await store.close()
    }

    @Test func aWriteToAnotherTableDoesNotCount() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        let early = scene.ask()
        try await store.markTableStale(TableID(schema: "other", name: "tasks"))
        #expect(try await store.store(try scene.response("[]", at: early)) == .stored)
        await store.close()
    }

    @Test func anResponseThatANewerOneOvertookIsSuperseded() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        let (first, second) = (scene.ask(), scene.ask())
        _ = try await store.store(try scene.response(#"[{"id":"new"}]"#, at: second))
        #expect(try await store.store(try scene.response(#"[{"id":"old"}]"#, at: first)) == .superseded)
        #expect(try await store.store(try scene.response(#"[{"id":"old"}]"#, to: "open", at: first)) == .stored)
        #expect(texts(try await store.list(cacheKey: "all", usedAt: day(5))) == [#"{"id":"new"}"#])
        await store.close()
    }

    @Test func anResponseAskedForBeforeAClearIsRejected() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        let early = scene.ask()
        try await store.clear(keepingQueue: true)
        #expect(try await store.store(try scene.response("[]", at: early)) == .olderThanClear)
        #expect(try await store.store(try scene.response("[]")) == .stored)
        await store.close()
    }

    @Test func aRejectionMakesTheTablesListsStale() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        _ = try await store.store(try scene.response("[]"))
        let early = scene.ask()
        _ = try await store.enqueue([try insertion("a")], limit: 10)
        try await store.reject([try rejection(try insertion("a"))])
        #expect(try await store.list(cacheKey: "all", usedAt: day(5))?.head.isStale == true)
        #expect(try await store.store(try scene.response("[]", at: early)) == .olderThanTable)
        await store.close()
    }

    @Test func staleOutlivesTheProcessAndEndsWithTheNextAnswer() async throws {
        let scene = try StoreScene()
        var store = try scene.open()
        _ = try await store.store(try scene.response("[]"))
        try await store.markTableStale(tasks)
        await store.close()
        store = try scene.open()
        #expect(try await store.list(cacheKey: "all", usedAt: day(5))?.head.isStale == true)
        _ = try await store.store(try scene.response("[]"))
        #expect(try await store.list(cacheKey: "all", usedAt: day(5))?.head.isStale == false)
        await store.close()
    }
}
