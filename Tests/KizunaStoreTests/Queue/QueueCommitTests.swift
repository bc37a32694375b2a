import KizunaCore
import KizunaStore
import Testing

@Suite struct QueueCommitTests {
    @Test func mutationsKeepTheOrderOfTheirCommits() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        let stored = try await store.enqueue([try insertion("b"), try insertion("a")], limit: 10)
        _ = try await store.enqueue([try update("a")], limit: 10)
        #expect(stored.map(\.sequence) == stored.map(\.sequence).sorted())
        #expect(try await store.pendingEntries().map(\.id) == ["insert-b", "insert-a", "update-a"])
        #expect(scene.changes.map(\.queueDepth) == [2, 3])
        await store.close()
    }

    @Test func aFullQueueAcceptsAllMutationsOfACallOrNone() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        _ = try await store.enqueue([try insertion("a")], limit: 2)
        let error = await #expect(throws: SyncError.self) {
            try await store.enqueue([try insertion("b"), try insertion("c")], limit: 2)
        }
        #expect(error?.code == .queueFull)
        #expect(try await store.pendingEntries().count == 1)
        _ = try await store.enqueue([try insertion("b")], limit: 2)
        #expect(scene.changes.map(\.queueDepth) == [1, 2])
        await store.close()
    }

    @Test func aFailedMutationRollsBackItsCall() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        _ = try await store.enqueue([try insertion("a", id: "same")], limit: 10)
        await #expect(throws: SyncError.self) {
            try await store.enqueue([try insertion("b"), try insertion("c", id: "same")], limit: 10)
        }
        #expect(try await store.pendingEntries().map(\.id) == ["same"])
        #expect(scene.changes.count == 1)
        _ = try await store.enqueue([try insertion("d")], limit: 10)
        #expect(scene.changes.last?.queueDepth == 2)
        await store.close()
    }

    @Test func aDeliveryChangesListsTableVersionAndQueueInOneChange() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        _ = try await store.store(try scene.response(#"[{"id":"a","n":1},{"id":"b"}]"#))
        _ = try await store.enqueue([try update("a"), try insertion("c")], limit: 10)
        let key = RowKey(text: "a")
        try await store.settle(["update-a", "insert-c", "unknown"], table: tasks, rows: [:], keys: [key]) {
            head, present in
            #expect(head.cacheKey == "all")
            #expect(present.mapValues(\.text) == [key: #"{"id":"a","n":1}"#])
            var edit = CachedQueryEdit()
            edit.removed = [key]
            return edit
        }
        let change = try #require(scene.changes.last)
        #expect(change.ended.map(\.id) == ["update-a", "insert-c"])
        #expect(change.queueDepth == 0)
        #expect(change.lists.count == 1)
        #expect(texts(try await store.list(cacheKey: "all", usedAt: day(5))) == [#"{"id":"b"}"#])
        #expect(try await store.pendingEntries().isEmpty)
        await store.close()
    }

    @Test func aRejectionKeepsTheServersResponse() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        let stored = try await store.enqueue([try insertion("a"), try update("a")], limit: 10)
        let first = try rejection(stored[0])
        let second = RejectedEntry(
            entry: stored[1], failure: first.failure, dependsOn: "insert-a", rejectedAt: day(4))
        try await store.reject([first, second, try rejection(try insertion("never queued"))])
        let kept = try await store.rejectedEntries()
        #expect(kept.map(\.entry.id) == ["insert-a", "update-a"])
        #expect(kept.map(\.failure) == [first.failure, first.failure])
        #expect(kept.map(\.dependsOn) == [nil, "insert-a"])
        #expect(kept.map(\.serverRow) == [first.serverRow, nil])
        #expect(kept.map(\.entry.operation) == stored.map(\.operation))
        #expect(scene.changes.last?.queueDepth == 0)
        await store.close()
    }

    @Test func aRejectedMutationIsQueuedAgainOrDismissed() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        let stored = try await store.enqueue([try insertion("a"), try insertion("b"), try insertion("c")], limit: 10)
        try await store.reject([try rejection(stored[0]), try rejection(stored[1])])
        let again = try await store.requeueRejected("insert-a") { (rejected, _) throws(SyncError) in [rejected] }
        #expect(again?.map(\.maybeSent) == [false])
        #expect(try await store.pendingEntries().map(\.id) == ["insert-c", "insert-a"])
        #expect(try await store.dismissRejected("insert-b"))
        #expect(try await !store.dismissRejected("insert-b"))
        #expect(try await store.requeueRejected("insert-b") { (rejected, _) throws(SyncError) in [rejected] } == nil)
        #expect(try await store.rejectedEntries().isEmpty)
        await store.close()
    }

    @Test func aFailedEditKeepsTheRejection() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        let stored = try await store.enqueue([try insertion("a")], limit: 10)
        try await store.reject([try rejection(stored[0])])
        let before = try await fingerprint(store)
        await #expect(throws: SyncError.self) {
            try await store.requeueRejected("insert-a") { (_, _) throws(SyncError) in
                throw SyncError(.notQueueable, "no")
            }
        }
        #expect(try await fingerprint(store) == before)
        await store.close()
    }

    @Test func clearingKeepsTheQueueWhenRequested() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        let stored = try await store.enqueue([try insertion("a"), try insertion("b")], limit: 10)
        try await store.reject([try rejection(stored[0])])
        _ = try await store.store(try scene.response("[]"))
        try await store.clear(keepingQueue: true)
        #expect(try await store.list(cacheKey: "all", usedAt: day(5)) == nil)
        #expect(try await store.pendingEntries().map(\.id) == ["insert-b"])
        #expect(scene.changes.last?.queueDepth == 1)
        try await store.clear(keepingQueue: false)
        #expect(try await store.pendingEntries().isEmpty)
        #expect(try await store.rejectedEntries().isEmpty)
        #expect(scene.changes.last?.ended.map(\.id) == ["insert-b"])
        #expect(scene.changes.last?.unrejected == ["insert-a"])
        #expect(scene.changes.last?.queueDepth == 0)
        await store.close()
    }
}
