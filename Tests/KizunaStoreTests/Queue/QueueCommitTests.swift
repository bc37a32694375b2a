import KizunaCore
import KizunaStore
import Testing

@Suite struct QueueCommitTests {
    @Test func writesKeepTheOrderOfTheirAcceptance() async throws {
        let scene = try StoreScene()
        let vault = try scene.open()
        let stored = try await vault.enqueue([try insertion("b"), try insertion("a")], limit: 10)
        _ = try await vault.enqueue([try update("a")], limit: 10)
        #expect(stored.map(\.sequence) == stored.map(\.sequence).sorted())
        #expect(try await vault.pendingEntries().map(\.id) == ["insert-b", "insert-a", "update-a"])
        #expect(scene.changes.map(\.queueDepth) == [2, 3])
        await vault.close()
    }

    @Test func aFullQueueTakesAllOrNone() async throws {
        let scene = try StoreScene()
        let vault = try scene.open()
        _ = try await vault.enqueue([try insertion("a")], limit: 2)
        let error = await #expect(throws: SyncError.self) {
            try await vault.enqueue([try insertion("b"), try insertion("c")], limit: 2)
        }
        #expect(error?.code == .queueFull)
        #expect(try await vault.pendingEntries().count == 1)
        _ = try await vault.enqueue([try insertion("b")], limit: 2)
        #expect(scene.changes.map(\.queueDepth) == [1, 2])
        await vault.close()
    }

    @Test func oneBadWriteOfSeveralLeavesNone() async throws {
        let scene = try StoreScene()
        let vault = try scene.open()
        _ = try await vault.enqueue([try insertion("a", id: "same")], limit: 10)
        await #expect(throws: SyncError.self) {
            try await vault.enqueue([try insertion("b"), try insertion("c", id: "same")], limit: 10)
        }
        #expect(try await vault.pendingEntries().map(\.id) == ["same"])
        #expect(scene.changes.count == 1)
        _ = try await vault.enqueue([try insertion("d")], limit: 10)
        #expect(scene.changes.last?.queueDepth == 2)
        await vault.close()
    }

    @Test func settlingIsOneChangeOfListsMarkAndQueue() async throws {
        let scene = try StoreScene()
        let vault = try scene.open()
        _ = try await vault.store(try scene.answer(#"[{"id":"a","n":1},{"id":"b"}]"#))
        _ = try await vault.enqueue([try update("a"), try insertion("c")], limit: 10)
        let key = RowKey(text: "a")
        try await vault.settle(["update-a", "insert-c", "unknown"], table: tasks, rows: [:], keys: [key]) {
            head, present in
            #expect(head.cacheKey == "all")
            #expect(present.mapValues(\.text) == [key: #"{"id":"a","n":1}"#])
            var edit = ListEdit()
            edit.removed = [key]
            return edit
        }
        let change = try #require(scene.changes.last)
        #expect(change.ended.map(\.id) == ["update-a", "insert-c"])
        #expect(change.queueDepth == 0)
        #expect(change.lists.count == 1)
        #expect(texts(try await vault.list(cacheKey: "all", usedAt: day(5))) == [#"{"id":"b"}"#])
        #expect(try await vault.pendingEntries().isEmpty)
        await vault.close()
    }

    @Test func aRefusalKeepsEverythingTheServerSaid() async throws {
        let scene = try StoreScene()
        let vault = try scene.open()
        let stored = try await vault.enqueue([try insertion("a"), try update("a")], limit: 10)
        let first = try refusal(stored[0])
        let second = RefusedEntry(
            entry: stored[1], failure: first.failure, dependsOn: "insert-a", refusedAt: day(4))
        try await vault.refuse([first, second, try refusal(try insertion("never queued"))])
        let kept = try await vault.refusedEntries()
        #expect(kept.map(\.entry.id) == ["insert-a", "update-a"])
        #expect(kept.map(\.failure) == [first.failure, first.failure])
        #expect(kept.map(\.dependsOn) == [nil, "insert-a"])
        #expect(kept.map(\.serverRow) == [first.serverRow, nil])
        #expect(kept.map(\.entry.operation) == stored.map(\.operation))
        #expect(scene.changes.last?.queueDepth == 0)
        await vault.close()
    }

    @Test func aRefusedWriteGoesToTheEndOfTheQueueOrAway() async throws {
        let scene = try StoreScene()
        let vault = try scene.open()
        let stored = try await vault.enqueue([try insertion("a"), try insertion("b"), try insertion("c")], limit: 10)
        try await vault.refuse([try refusal(stored[0]), try refusal(stored[1])])
        let again = try await vault.requeueRefused("insert-a") { (refused, _) throws(SyncError) in [refused] }
        #expect(again?.map(\.maybeSent) == [false])
        #expect(try await vault.pendingEntries().map(\.id) == ["insert-c", "insert-a"])
        #expect(try await vault.dismissRefused("insert-b"))
        #expect(try await !vault.dismissRefused("insert-b"))
        #expect(try await vault.requeueRefused("insert-b") { (refused, _) throws(SyncError) in [refused] } == nil)
        #expect(try await vault.refusedEntries().isEmpty)
        await vault.close()
    }

    @Test func anEditThatFailsLeavesTheRefusalWhereItWas() async throws {
        let scene = try StoreScene()
        let vault = try scene.open()
        let stored = try await vault.enqueue([try insertion("a")], limit: 10)
        try await vault.refuse([try refusal(stored[0])])
        let before = try await fingerprint(vault)
        await #expect(throws: SyncError.self) {
            try await vault.requeueRefused("insert-a") { (_, _) throws(SyncError) in
                throw SyncError(.notQueueable, "no")
            }
        }
        #expect(try await fingerprint(vault) == before)
        await vault.close()
    }

    @Test func clearingKeepsTheQueueWhereItIsToldTo() async throws {
        let scene = try StoreScene()
        let vault = try scene.open()
        let stored = try await vault.enqueue([try insertion("a"), try insertion("b")], limit: 10)
        try await vault.refuse([try refusal(stored[0])])
        _ = try await vault.store(try scene.answer("[]"))
        try await vault.clear(keepingQueue: true)
        #expect(try await vault.list(cacheKey: "all", usedAt: day(5)) == nil)
        #expect(try await vault.pendingEntries().map(\.id) == ["insert-b"])
        #expect(scene.changes.last?.queueDepth == 1)
        try await vault.clear(keepingQueue: false)
        #expect(try await vault.pendingEntries().isEmpty)
        #expect(try await vault.refusedEntries().isEmpty)
        #expect(scene.changes.last?.ended.map(\.id) == ["insert-b"])
        #expect(scene.changes.last?.unrefused == ["insert-a"])
        #expect(scene.changes.last?.queueDepth == 0)
        await vault.close()
    }
}
