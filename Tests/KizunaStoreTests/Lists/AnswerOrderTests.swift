import KizunaCore
import KizunaStore
import Testing

/// Which answers are stored at all: an answer that is older than what the device knows is not (spec reads §6.5).
@Suite struct AnswerOrderTests {
    @Test func anAnswerAskedForBeforeADeliveredWriteIsRefused() async throws {
        let scene = try StoreScene()
        let vault = try scene.open()
        let early = scene.ask()
        _ = try await vault.enqueue([try insertion("a")], limit: 10)
        try await vault.settle(["insert-a"], table: tasks, rows: [:], keys: []) { _, _ in ListEdit() }
        #expect(try await vault.store(try scene.answer("[]", at: early)) == .olderThanTable)
        #expect(try await vault.list(cacheKey: "all", usedAt: day(5)) == nil)
        #expect(try await vault.store(try scene.answer("[]")) == .stored)
        await vault.close()
    }

    @Test func aWriteToAnEmbeddedTableCountsToo() async throws {
        let scene = try StoreScene()
        let vault = try scene.open()
        let early = scene.ask()
        try await vault.markTableStale(TableID(name: "projects"))
        let plain = try scene.answer("[]", at: early)
        let embedding = ListAnswer(
            cacheKey: "embedding", table: tasks, mayShow: { $0.name == "projects" }, parameters: [],
            body: plain.body, rows: plain.rows, askedAt: early, fetchedAt: day(2))
        #expect(try await vault.store(embedding) == .olderThanTable)
        #expect(try await vault.store(plain) == .stored)
        await vault.close()
    }

    @Test func aWriteToAnotherTableDoesNotCount() async throws {
        let scene = try StoreScene()
        let vault = try scene.open()
        let early = scene.ask()
        try await vault.markTableStale(TableID(schema: "other", name: "tasks"))
        #expect(try await vault.store(try scene.answer("[]", at: early)) == .stored)
        await vault.close()
    }

    @Test func anAnswerThatANewerOneOvertookIsSuperseded() async throws {
        let scene = try StoreScene()
        let vault = try scene.open()
        let (first, second) = (scene.ask(), scene.ask())
        _ = try await vault.store(try scene.answer(#"[{"id":"new"}]"#, at: second))
        #expect(try await vault.store(try scene.answer(#"[{"id":"old"}]"#, at: first)) == .superseded)
        #expect(try await vault.store(try scene.answer(#"[{"id":"old"}]"#, to: "open", at: first)) == .stored)
        #expect(texts(try await vault.list(cacheKey: "all", usedAt: day(5))) == [#"{"id":"new"}"#])
        await vault.close()
    }

    @Test func anAnswerAskedForBeforeAClearIsRefused() async throws {
        let scene = try StoreScene()
        let vault = try scene.open()
        let early = scene.ask()
        try await vault.clear(keepingQueue: true)
        #expect(try await vault.store(try scene.answer("[]", at: early)) == .olderThanClear)
        #expect(try await vault.store(try scene.answer("[]")) == .stored)
        await vault.close()
    }

    @Test func aRefusalMakesTheTablesListsStale() async throws {
        let scene = try StoreScene()
        let vault = try scene.open()
        _ = try await vault.store(try scene.answer("[]"))
        let early = scene.ask()
        _ = try await vault.enqueue([try insertion("a")], limit: 10)
        try await vault.refuse([try refusal(try insertion("a"))])
        #expect(try await vault.list(cacheKey: "all", usedAt: day(5))?.head.isStale == true)
        #expect(try await vault.store(try scene.answer("[]", at: early)) == .olderThanTable)
        await vault.close()
    }

    @Test func staleOutlivesTheProcessAndEndsWithTheNextAnswer() async throws {
        let scene = try StoreScene()
        var vault = try scene.open()
        _ = try await vault.store(try scene.answer("[]"))
        try await vault.markTableStale(tasks)
        await vault.close()
        vault = try scene.open()
        #expect(try await vault.list(cacheKey: "all", usedAt: day(5))?.head.isStale == true)
        _ = try await vault.store(try scene.answer("[]"))
        #expect(try await vault.list(cacheKey: "all", usedAt: day(5))?.head.isStale == false)
        await vault.close()
    }
}
