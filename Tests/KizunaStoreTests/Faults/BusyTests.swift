import KizunaCore
import KizunaStore
import Testing

@Suite struct BusyTests {
    @Test func aStoreThatAnotherProcessHoldsIsBusyAndNothingIsWritten() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        _ = try await store.enqueue([try insertion("a")], limit: 10)
        let other = try RawStore(scene.path)
        try other.execute("BEGIN IMMEDIATE")
        let error = await #expect(throws: SyncError.self) {
            try await store.enqueue([try insertion("b")], limit: 10)
        }
        #expect(error?.code == .storeBusy)
        #expect(error?.isRetryable == true)
        #expect(try await store.pendingEntries().map(\.id) == ["insert-a"], "reading goes on meanwhile")
        try other.execute("ROLLBACK")
        other.close()
        _ = try await store.enqueue([try insertion("b")], limit: 10)
        #expect(scene.changes.map(\.queueDepth) == [1, 2])
        await store.close()
    }

    /// A lock that comes in the middle of what the owner's own file does, and one that is there when it opens.
    @Test func aStoreThatIsHeldWhileItOpensIsNotTakenForDamaged() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        _ = try await store.enqueue([try insertion("a")], limit: 10)
        await store.close()
        let other = try RawStore(scene.path)
        try other.execute("PRAGMA locking_mode = EXCLUSIVE")
        try other.execute("BEGIN EXCLUSIVE")
        #expect(throws: SyncError.self) { try scene.open() }
        do {
            _ = try scene.open()
        } catch let error as SyncError {
            #expect(error.code == .storeBusy)
        }
        try other.execute("ROLLBACK")
        other.close()
        let again = try scene.open()
        #expect(again.damage == nil)
        #expect(try await again.pendingEntries().map(\.id) == ["insert-a"])
        await again.close()
    }

    @Test func twoConnectionsTakeTurns() async throws {
        let scene = try StoreScene()
        let first = try scene.open(busyTimeout: .seconds(5))
        let second = try scene.open(busyTimeout: .seconds(5))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (name, store) in [("x", first), ("y", second)] {
                group.addTask {
                    for number in 0..<50 {
                        _ = try await store.enqueue([try insertion("\(name)\(number)")], limit: 1000)
                    }
                }
            }
            try await group.waitForAll()
        }
        let ids = try await first.pendingEntries().map(\.id)
        #expect(ids.count == 100)
        #expect(Set(ids).count == 100)
        await first.close()
        await second.close()
    }
}
