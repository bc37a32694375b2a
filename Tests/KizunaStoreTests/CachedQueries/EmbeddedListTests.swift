import KizunaCore
import KizunaStore
import Testing

/// Lists that show rows of another table inside their own go stale with that table (docs/spec/reads.md, Embedded
/// tables).
@Suite struct EmbeddedListTests {
    private static let comments = TableID(name: "comments")

    private func comment(_ key: String) throws -> QueuedMutation {
        QueuedMutation(
            id: "comment-\(key)", table: Self.comments, operation: .insert(row: try json(#"{"id":"\#(key)"}"#)),
            rowKeys: [RowKey(text: key)], createdAt: day(3))
    }

    /// A vault with a list that embeds comments and one that does not.
    private func scene() async throws -> (StoreScene, OwnerStore) {
        let scene = try StoreScene()
        let store = try scene.open { head, table in
            table == Self.comments && head.parameters.contains { $0.value.contains("comments(") }
        }
        for (key, select) in [("all", "*,comments(*)"), ("open", "*")] {
            let response = try scene.response(#"[{"id":"a"}]"#, to: key, select: select)
            #expect(try await store.store(response) == .stored)
        }
        return (scene, store)
    }

    private func stale(_ store: OwnerStore) async throws -> [Bool?] {
        [
            try await store.list(cacheKey: "all", usedAt: day(5))?.head.isStale,
            try await store.list(cacheKey: "open", usedAt: day(5))?.head.isStale,
        ]
    }

    @Test func aDeliveredWriteMarksThem() async throws {
        let (scene, store) = try await scene()
        _ = try await store.enqueue([try comment("c")], limit: 10)
        #expect(try await stale(store) == [false, false])
        try await store.settle(["comment-c"], table: Self.comments, rows: [:], keys: []) { _, _ in CachedQueryEdit() }
        #expect(try await stale(store) == [true, false])
        guard case .edited(let edit)? = scene.changes.last?.lists["all"] else {
            Issue.record("nobody was told")
            return
        }
        #expect(edit.becomesStale)
        #expect(scene.changes.last?.lists["open"] == nil)
        await store.close()
    }

    @Test func aRejectedAndAWithdrawnWriteMarkThem() async throws {
        let (_, store) = try await scene()
        _ = try await store.enqueue([try comment("c")], limit: 10)
        try await store.reject([try rejection(try comment("c"))])
        #expect(try await stale(store) == [true, false])
        await store.close()

        let (_, other) = try await self.scene()
        _ = try await other.enqueue([try comment("c")], limit: 10)
        #expect(try await other.discardPending("comment-c"))
        #expect(try await stale(other) == [true, false])
        await other.close()
    }

    @Test func aWriteToTheListsOwnTableIsLeftToItsEffect() async throws {
        let (_, store) = try await scene()
        _ = try await store.enqueue([try insertion("z")], limit: 10)
        try await store.settle(["insert-z"], table: tasks, rows: [:], keys: []) { _, _ in CachedQueryEdit() }
        #expect(try await stale(store) == [false, false])
        await store.close()
    }

    @Test func anImageTellsWhichWritesWait() async throws {
        let (_, store) = try await scene()
        _ = try await store.enqueue([try comment("c"), try insertion("z"), try comment("d")], limit: 10)
        let image = try await store.image(
            cacheKey: "all", table: tasks, embedding: { $0 == Self.comments }, usedAt: day(5))
        #expect(image.embeddedWrites == ["comment-c", "comment-d"])
        #expect(try await store.image(cacheKey: "all", table: tasks, usedAt: day(5)).embeddedWrites.isEmpty)
        await store.close()
    }
}
