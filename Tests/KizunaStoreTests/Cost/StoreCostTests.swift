import KizunaCore
import KizunaStore
import Testing

/// What the store does is counted, not timed: counts do not depend on the machine.
@Suite struct StoreCostTests {
    private static func response(_ count: Int, title: (Int) -> String = { "title \($0)" }) -> String {
        "[" + (0..<count).map { #"{"id":"k\#($0)","title":"\#(title($0))"}"# }.joined(separator: ",") + "]"
    }

    @Test func anUnchangedResponseWritesNoRow() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        _ = try await store.store(try scene.response(Self.response(500)))
        let before = await store.rowsWritten
        #expect(before == 500)
        _ = try await store.store(try scene.response(Self.response(500)))
        #expect(await store.rowsWritten == before)
        await store.close()
    }

    @Test func anResponseWithThreeChangedRowsWritesThree() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        _ = try await store.store(try scene.response(Self.response(500)))
        let before = await store.rowsWritten
        let changed: Set<Int> = [3, 4, 499]
        let next = Self.response(500) { changed.contains($0) ? "other \($0)" : "title \($0)" }
        _ = try await store.store(try scene.response(next))
        #expect(await store.rowsWritten - before == 3)
        await store.close()
    }

    @Test(arguments: [0, 2_000]) func enqueueingTakesTheSameStatementsWhateverWaits(_ pending: Int) async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        _ = try await store.store(try scene.response(Self.response(500)))
        let waiting = try (0..<pending).map { try insertion("p\($0)") }
        _ = try await store.enqueue(waiting, limit: 10_000)
        _ = try await store.enqueue([try update("k1", id: "warm")], limit: 10_000)
        let before = await store.statementsRun
        _ = try await store.enqueue([try update("k7")], limit: 10_000)
        // One looks up the row the write names, one adds the entry.
        #expect(await store.statementsRun - before == 2)
        await store.close()
    }

    @Test func anAcceptedWriteReadsTheRowsItNamesAndNotTheList() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        _ = try await store.store(try scene.response(Self.response(500)))
        _ = try await store.enqueue([try update("k7"), try update("k8")], limit: 10)
        let before = (rows: await store.rowsWritten, statements: await store.statementsRun)
        try await store.settle(["update-k7"], table: tasks, rows: [:], keys: [RowKey(text: "k7")]) { _, present in
            var edit = CachedQueryEdit()
            edit.replaced = present.keys.map { .init(key: $0, json: RawJSON(unchecked: Array(#"{"id":"k7"}"#.utf8))) }
            return edit
        }
        #expect(await store.rowsWritten - before.rows == 1)
        #expect(await store.statementsRun - before.statements < 12)
        await store.close()
    }

    @Test func aKeyIsFoundAfterItsRowMovedBetweenAnswers() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        _ = try await store.store(try scene.response(#"[{"id":"a","title":"1"},{"id":"b","title":"2"}]"#))
        _ = try await store.enqueue([try update("a", id: "first")], limit: 10)
        _ = try await store.store(try scene.response(#"[{"id":"b","title":"2"}]"#))
        _ = try await store.enqueue([try update("a", id: "gone")], limit: 10)
        _ = try await store.store(try scene.response(#"[{"id":"c","title":"4"},{"id":"a","title":"3"}]"#))
        _ = try await store.enqueue([try update("a", id: "back")], limit: 10)
        let known = scene.changes.filter { !$0.queued.isEmpty }.map { $0.known[tasks]?[RowKey(text: "a")]??.text }
        #expect(known == [#"{"id":"a","title":"1"}"#, nil, #"{"id":"a","title":"3"}"#])
        await store.close()
    }
}
