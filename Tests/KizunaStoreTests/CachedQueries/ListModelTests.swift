import TestSupport
import KizunaSyncTesting
import KizunaCore
import KizunaStore
import Testing

/// Random answers, edits and restarts against a list that is nothing but an array.
@Suite struct ListModelTests {
    private struct ModelRow: Equatable {
        let key: RowKey?
        let text: String
    }

    @Test(arguments: 1...12)
    func aListIsWhatAnswersAndEditsMadeOfIt(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let scene = try StoreScene()
        var store = try scene.open()
        var model: [ModelRow]?
        for step in 0..<60 {
            switch random.below(10) {
            case 0:
                await store.close()
                store = try scene.open()
            case 1...4:
                let rows = Self.rows(&random, like: model ?? [])
                let text = "[\(rows.map(\.text).joined(separator: ","))]"
                #expect(try await store.store(try scene.response(text)) == .stored)
                model = rows
            default:
                guard let before = model else { continue }
                let edit = Self.edit(&random)
                try await settle(edit, store, step)
                model = Self.applied(edit, to: before)
            }
            let list = try await store.list(cacheKey: "all", usedAt: day(5))
            #expect(
                list?.rows.map { ModelRow(key: $0.key, text: $0.json.text) } == model, "seed \(seed), step \(step)")
            #expect(Set(list?.rows.map(\.slot) ?? []).count == model?.count ?? 0, "seed \(seed), step \(step)")
        }
        await store.close()
    }

    private func settle(_ edit: CachedQueryEdit, _ store: OwnerStore, _ step: Int) async throws {
        _ = try await store.enqueue([try insertion("w", id: "write-\(step)")], limit: 10)
        try await store.settle(["write-\(step)"], table: tasks, rows: [:], keys: []) { _, _ in edit }
    }

    /// Rows of few keys, so that they repeat, change and change places; some have no key.
    private static func rows(_ random: inout SeededRandom, like before: [ModelRow]) -> [ModelRow] {
        var rows = random.below(3) == 0 ? before : []
        rows.shuffle(using: &random)
        for _ in 0..<random.below(8) { rows.append(row(&random)) }
        return rows
    }

    private static func row(_ random: inout SeededRandom) -> ModelRow {
        let value = random.below(3)
        guard random.below(6) > 0 else { return ModelRow(key: nil, text: #"{"n":\#(value)}"#) }
        let key = "k\(random.below(7))"
        return ModelRow(key: RowKey(text: key), text: #"{"id":"\#(key)","n":\#(value)}"#)
    }

    private static func edit(_ random: inout SeededRandom) -> CachedQueryEdit {
        var edit = CachedQueryEdit()
        for _ in 0..<random.below(3) { edit.replaced.append(replacement(&random)) }
        for _ in 0..<random.below(2) { edit.removed.append(RowKey(text: "k\(random.below(7))")) }
        for _ in 0..<random.below(2) { edit.appended.append(replacement(&random)) }
        return edit
    }

    private static func replacement(_ random: inout SeededRandom) -> CachedQueryEdit.Replacement {
        let key = "k\(random.below(7))"
        let text = #"{"id":"\#(key)","edited":\#(random.below(100))}"#
        return CachedQueryEdit.Replacement(key: RowKey(text: key), json: RawJSON(unchecked: Array(text.utf8)))
    }

    private static func applied(_ edit: CachedQueryEdit, to rows: [ModelRow]) -> [ModelRow] {
        let kept = rows.compactMap { row -> ModelRow? in
            guard let key = row.key else { return row }
            if edit.removed.contains(key) { return nil }
            return edit.replaced.last { $0.key == key }.map { ModelRow(key: key, text: $0.json.text) } ?? row
        }
        return kept + edit.appended.map { ModelRow(key: $0.key, text: $0.json.text) }
    }
}
