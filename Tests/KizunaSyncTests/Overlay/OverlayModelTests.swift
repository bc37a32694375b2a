import Foundation
import KizunaCore
import KizunaPostgREST
import KizunaStore
import KizunaSync
import KizunaSyncTesting
import Testing

/// Random writes, deliveries and rejections, compared with a model that keeps the table in a dictionary: a cached query with
/// its overlay has the rows that the server would return after all queued mutations.
@Suite struct OverlayModelTests {
    @Test(arguments: 1...80)
    func theOverlayEqualsTheResponseAfterAllMutations(seed: UInt64) throws {
        var scene = try OverlayScene(seed: seed)
        for step in 0..<40 {
            try scene.step()
            #expect(scene.fault == nil, "seed \(seed), step \(step): \(scene.fault ?? "")")
            if scene.fault != nil { return }
        }
    }

    @Test(arguments: [OverlayScene.Plant.skipsAWrite, .forgetsToRemove, .keepsOldValues])
    func thePlantedFaultIsFound(_ plant: OverlayScene.Plant) throws {
        let seen = try (UInt64(1)...20).contains { (seed: UInt64) in
            var scene = try OverlayScene(seed: seed)
            scene.plant = plant
            for _ in 0..<40 {
                try scene.step()
                if scene.fault != nil { return true }
            }
            return false
        }
        #expect(seen)
    }
}

/// A server, one cached query, and a queue.
struct OverlayScene {
    enum Plant { case skipsAWrite, forgetsToRemove, keepsOldValues }

    private static let requests: [[(String, String)]] = [
        [], [("done", "eq.false")], [("done", "neq.true"), ("rank", "gt.3")], [("order", "rank.asc")],
        [("done", "eq.true"), ("order", "rank.asc")],
    ]
    private static let types = TableTypes(columns: ["id": .text, "done": .bool, "rank": .int4])

    private(set) var fault: String?
    var plant: Plant?
    private var random: SeededRandom
    private let shape: QueryShape
    private var server: [RowKey: RawJSON] = [:]
    private var base: [RowKey: RawJSON] = [:]
    private var isStale = false
    private var queue: [QueuedMutation] = []
    private var count = 0

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed)
        var request = TableRequest(schema: "public", table: "notes")
        for (name, value) in Self.requests[Int(seed) % Self.requests.count] { request.append(name, value) }
        shape = QueryShape(request: request, types: Self.types, keyColumns: ["id"])
        for number in 0..<4 { server[RowKey(text: "k\(number)")] = try row("k\(number)") }
        fetch()
    }

    mutating func step() throws {
        switch Int(random.next() % 8) {
        case 0...3: try write()
        case 4...5: deliver()
        case 6: if !queue.isEmpty { queue.remove(at: Int(random.next() % UInt64(queue.count))) }
        default: fetch()
        }
        check()
    }

    /// Fetches the query. A response older than a delivered mutation is not used, so the rows are those of the server.
    private mutating func fetch() {
        base = server.filter { shape.matches($0.value) == .yes }
        isStale = false
    }

    private mutating func write() throws {
        count += 1
        let key = "k\(random.next() % 6)"
        let other = "k\(random.next() % 6)"
        let pinned = [QueuedMutation.Filter(name: "id", value: "eq.\(key)")]
        let isThere = folded(server)[RowKey(text: key)] != nil
        let operation: QueuedMutation.Operation
        let isFree = folded(server)[RowKey(text: other)] == nil
        switch (isThere, Int(random.next() % 5)) {
        case (false, _): operation = .insert(row: try row(key))
        case (true, 0): operation = .delete(filters: pinned)
        case (true, 1): operation = .upsert(row: try row(key), onConflict: [], ignoresDuplicates: random.chance(0.3))
        case (true, 2) where isFree:
            operation = .update(patch: try json(#"{"id":"\#(other)","rank":\#(random.next() % 8)}"#), filters: pinned)
        default:
            let patch = random.chance(0.5) ? #"{"done":\#(random.chance(0.5))}"# : #"{"rank":\#(random.next() % 8)}"#
            operation = .update(patch: try json(patch), filters: pinned)
        }
        queue.append(
            QueuedMutation(
                id: "w\(count)", table: notes, operation: operation, rowKeys: [RowKey(text: key)],
                createdAt: Date(timeIntervalSince1970: 0)))
    }

    /// Delivers the first mutation and applies its effect to the cached rows, as the store does.
    private mutating func deliver() {
        guard !queue.isEmpty else { return }
        let entry = queue.removeFirst()
        let key = entry.rowKeys[0]
        let before = server
        apply(entry, to: &server)
        let rows: DeliveryEffect.Rows
        var previous: [RowKey] = []
        if let target = target(of: entry) {
            // The server rejects a duplicate key, and the query is fetched again.
            let isDone = before[target] == nil && before[key] != nil
            if isDone, let row = server[target] { rows = .written([target: row]) } else { rows = .unknown }
            previous = isDone ? [key] : []
        } else if case .delete = entry.operation {
            rows = .deleted([key])
        } else {
            rows = .written(server[key].map { before[key] == $0 && isIgnored(entry) ? [:] : [key: $0] } ?? [:])
        }
        let effect = DeliveryEffect(rows, previous: previous)
        let edit = effect.edit(of: shape, present: base.filter { effect.keys.contains($0.key) })
        if plant != .keepsOldValues { for each in edit.replaced { base[each.key] = each.json } }
        if plant != .forgetsToRemove { for key in edit.removed { base[key] = nil } }
        for each in edit.appended { base[each.key] = each.json }
        if edit.becomesStale { isStale = true }
    }

    private func isIgnored(_ entry: QueuedMutation) -> Bool {
        if case .upsert(_, _, true) = entry.operation { true } else { false }
    }

    // MARK: - The check

    private mutating func check() {
        // A stale query may differ from the server until it is fetched again.
        let wanted = folded(server).filter { shape.matches($0.value) == .yes }
        let shown = overlaid(queue)
        guard Self.members(shown) == Self.members(wanted) else {
            if !isStale || plant != nil { fault = "shows \(Self.text(shown)), not \(Self.text(wanted))" }
            return
        }
        // Applying the mutations one at a time gives the same rows.
        var fold = fold([])
        for entry in queue { fold.apply(entry) }
        if Self.members(rows(of: fold)) != Self.members(shown) { fault = "one mutation at a time gives other rows" }
        if queue.isEmpty, Self.members(shown) != Self.members(base) { fault = "an empty queue changes the rows" }
    }

    private func fold(_ entries: [QueuedMutation]) -> OverlayFold {
        let stored = base.sorted { $0.key < $1.key }.enumerated().map { index, row in
            StoredRow(slot: Int64(index), key: row.key, json: row.value)
        }
        var fold = OverlayFold(
            shape: shape, base: stored, rowsInOtherLists: server.filter { base[$0.key] == nil })
        for entry in entries { fold.apply(entry) }
        return fold
    }

    private func overlaid(_ entries: [QueuedMutation]) -> [RowKey: RawJSON] {
        rows(of: fold(plant == .skipsAWrite ? Array(entries.dropLast()) : entries))
    }

    private func rows(of fold: OverlayFold) -> [RowKey: RawJSON] {
        var rows: [RowKey: RawJSON] = [:]
        for row in fold.rows ?? [] { if let key = row.key { rows[key] = row.json } }
        return rows
    }

    // MARK: - The model

    private func folded(_ start: [RowKey: RawJSON]) -> [RowKey: RawJSON] {
        var table = start
        for entry in queue { apply(entry, to: &table) }
        return table
    }

    private func apply(_ entry: QueuedMutation, to table: inout [RowKey: RawJSON]) {
        let key = entry.rowKeys[0]
        switch entry.operation {
        case .insert(let row): if table[key] == nil { table[key] = row } else { table[key] = merged(table[key], row) }
        case .upsert(let row, _, let ignores):
            if table[key] == nil { table[key] = row } else if !ignores { table[key] = merged(table[key], row) }
        case .update(let patch, _):
            guard let old = table[key] else { return }
            if let target = target(of: entry) {
                guard table[target] == nil else { return }
                table[key] = nil
                table[target] = merged(old, patch)
            } else {
                table[key] = merged(old, patch)
            }
        case .delete: table[key] = nil
        }
    }

    /// Returns the new key of the row of an update; nil if the key stays the same.
    private func target(of entry: QueuedMutation) -> RowKey? {
        guard case .moves(let moves) = entry.keyChange(keyColumns: ["id"]) else { return nil }
        return moves[entry.rowKeys[0]]
    }

    private func merged(_ old: RawJSON?, _ patch: RawJSON) -> RawJSON? {
        old?.merging((try? patch.objectMembers()) ?? [])
    }

    private mutating func row(_ key: String) throws -> RawJSON {
        try json(#"{"id":"\#(key)","done":\#(random.chance(0.5)),"rank":\#(random.next() % 8)}"#)
    }

    private func json(_ text: String) throws -> RawJSON { try RawJSON(validating: Array(text.utf8)) }

    /// Returns the rows without the order of their columns.
    private static func members(_ rows: [RowKey: RawJSON]) -> [RowKey: [String: String]] {
        rows.mapValues { row in
            Dictionary(
                ((try? row.objectMembers()) ?? []).map { ($0.name, $0.value.text) }, uniquingKeysWith: { $1 })
        }
    }

    private static func text(_ rows: [RowKey: RawJSON]) -> String {
        rows.sorted { $0.key < $1.key }.map(\.value.text).joined(separator: " ")
    }
}
