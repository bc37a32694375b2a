import TestSupport
import CSQLite
import Foundation
import KizunaCore
import KizunaStore
import Testing

/// Every write of the vault, with every one of its disk operations failing in turn: it throws and has left nothing, or
/// it returns and is durable; and what the vault has in memory agrees with the file.
@Suite struct FaultInjectionTests {
    enum Effect: CaseIterable {
        case enqueue, beginSend, sendFailed, settle, reject, discard, dismiss, requeue, store, storeAgain, stale, evict
        case clear
    }

    struct Fault: Sendable, CustomStringConvertible {
        let operation: FaultVFS.Operation
        let code: Int32
        let isLasting: Bool
        let expected: SyncError.Code
        var description: String { "\(operation) \(code)\(isLasting ? " lasting" : "")" }

        static let all = [
            Fault(operation: .write, code: SQLITE_FULL, isLasting: true, expected: .diskFull),
            Fault(operation: .write, code: SQLITE_FULL, isLasting: false, expected: .diskFull),
            Fault(operation: .write, code: SQLITE_IOERR | (3 << 8), isLasting: false, expected: .storage),
            Fault(operation: .sync, code: SQLITE_IOERR | (4 << 8), isLasting: true, expected: .storage),
            Fault(operation: .read, code: SQLITE_IOERR | (1 << 8), isLasting: false, expected: .storage),
            Fault(operation: .lock, code: SQLITE_BUSY, isLasting: false, expected: .storeBusy),
            Fault(operation: .lock, code: SQLITE_BUSY, isLasting: true, expected: .storeBusy),
            // In the middle of a transaction: at each page a statement reads, and at each frame a commit writes.
            Fault(operation: .read, code: SQLITE_BUSY, isLasting: false, expected: .storeBusy),
            Fault(operation: .write, code: SQLITE_BUSY, isLasting: false, expected: .storeBusy),
            Fault(operation: .sync, code: SQLITE_BUSY, isLasting: true, expected: .storeBusy),
        ]
    }

    @Test(arguments: Effect.allCases, Fault.all)
    func aEffectIsDoneOrNotDone(_ effect: Effect, _ fault: Fault) async throws {
        FaultVFS.install()
        let template = try StoreScene()
        try await fill(template)
        let before = try await observed(template.path)
        let reference = try template.copy()
        let witness = try reference.open()
        try await perform(effect, witness, reference)
        await witness.close()
        let after = try await observed(reference.path)
        var number = 1
        while true {
            let scene = try template.copy()
            let store = try scene.open()
            FaultVFS.arm(
                fault.operation, code: fault.code, at: number, isLasting: fault.isLasting, under: scene.path)
            let outcome = await Result { try await perform(effect, store, scene) }
            let hasFailed = FaultVFS.disarm(under: scene.path)
            let what: Comment = "\(effect), \(fault) at operation \(number): \(outcome)"
            switch outcome {
            case .success:
                #expect(try await fingerprint(store) == after, what)
                #expect(scene.changes.count == 1, what)
            case .failure(let error):
                #expect((error as? SyncError)?.code == fault.expected, what)
                #expect(try await fingerprint(store) == before, what)
                #expect(scene.changes.isEmpty, what)
                try await perform(effect, store, scene)
                #expect(try await fingerprint(store) == after, "again after \(what)")
            }
            try await expectMemoryAgrees(store, scene, what)
            await store.close()
            #expect(try await observed(scene.path) == after, what)
            guard hasFailed else { break }
            number += 1
            try #require(number < 200, "the deed does not come to an end")
        }
        if fault.operation != .read { #expect(number > 1, "nothing of \(effect) could fail") }
    }

    /// Another connection holds the store while each deed is begun.
    @Test(arguments: Effect.allCases)
    func aHeldStoreLeavesAEffectUndone(_ effect: Effect) async throws {
        let scene = try StoreScene()
        try await fill(scene)
        let store = try scene.open()
        let before = try await fingerprint(store)
        let count = scene.changes.count
        let other = try RawStore(scene.path)
        try other.execute("BEGIN IMMEDIATE")
        let outcome = await Result { try await perform(effect, store, scene) }
        guard case .failure(let error) = outcome else {
            Issue.record("\(effect) went past the lock")
            return
        }
        #expect((error as? SyncError)?.code == .storeBusy)
        #expect(scene.changes.count == count)
        try other.execute("ROLLBACK")
        other.close()
        #expect(try await fingerprint(store) == before)
        try await expectMemoryAgrees(store, scene, "\(effect)")
        try await perform(effect, store, scene)
        let after = try await fingerprint(store)
        #expect(after != before || effect == .stale)
        await store.close()
    }

    /// What is kept in memory shows in the depth that the next change tells, and in the rows known by key.
    private func expectMemoryAgrees(_ store: OwnerStore, _ scene: StoreScene, _ what: Comment) async throws {
        let image = try await store.image(cacheKey: "all", table: tasks, usedAt: day(5))
        let other = try scene.open()
        let fresh = try await other.image(cacheKey: "all", table: tasks, usedAt: day(5))
        await other.close()
        #expect(image.known == fresh.known, what)
        #expect(image.entries == fresh.entries, what)
        let probe = QueuedMutation(
            id: "probe", table: TableID(name: "others"), operation: .delete(filters: []), rowKeys: [], createdAt: day(3)
        )
        _ = try await store.enqueue([probe], limit: 1000)
        #expect(scene.changes.last?.queueDepth == image.entries.count + 1, what)
        _ = try await store.discardPending("probe")
    }

    private func fill(_ scene: StoreScene) async throws {
        let store = try scene.open()
        let stored = try await store.enqueue(
            [try update("a"), try insertion("b"), try insertion("c"), try insertion("d")], limit: 10)
        try await store.reject([try rejection(stored[3])])
        _ = try await store.store(try scene.response(#"[{"id":"a","n":1},{"id":"x"},{"id":"y"}]"#))
        await store.close()
    }

    private func observed(_ path: String) async throws -> String {
        let store = try OwnerStore(
            file: StoreFile(path: path), owner: "user:a", logicalClock: LogicalClock(), now: day(1), onChange: { _ in })
        let text = try await fingerprint(store)
        await store.close()
        return text
    }

    private func perform(_ effect: Effect, _ store: OwnerStore, _ scene: StoreScene) async throws {
        switch effect {
        case .enqueue: _ = try await store.enqueue([try insertion("e"), try update("x")], limit: 10)
        case .beginSend: try await store.beginSend(["update-a", "insert-b"])
        case .sendFailed: try await store.sendFailed(["update-a"], maybeSent: ["update-a": true], error: "no")
        case .settle:
            try await store.settle(["update-a", "insert-b"], table: tasks, rows: [:], keys: [RowKey(text: "a")]) {
                _, present in
                var edit = CachedQueryEdit()
                edit.removed = Array(present.keys)
                edit.appended = [
                    .init(key: RowKey(text: "b"), json: RawJSON(unchecked: Array(#"{"id":"b"}"#.utf8)))
                ]
                return edit
            }
        case .reject: try await store.reject([try rejection(try insertion("b")), try rejection(try insertion("c"))])
        case .discard: _ = try await store.discardPending("insert-b")
        case .dismiss: _ = try await store.dismissRejected("insert-d")
        case .requeue: _ = try await store.requeueRejected("insert-d") { (rejected, _) throws(SyncError) in [rejected] }
        case .store: _ = try await store.store(try scene.response(#"[{"id":"z"},{"n":1}]"#, to: "open"))
        case .storeAgain:
            _ = try await store.store(try scene.response(#"[{"id":"y","n":2},{"id":"z"},{"id":"a","n":1}]"#))
        case .stale: try await store.markTableStale(tasks)
        case .evict: _ = try await store.evict(maximumBytes: 0, maximumLists: 0, keeping: [])
        case .clear: try await store.clear(keepingQueue: false)
        }
    }
}

extension Result where Failure == any Error {
    /// What an asynchronous call returned or threw.
    init(catching body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
