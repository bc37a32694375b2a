internal import Foundation
internal import KizunaCore

/// Decodes rows as the app's type.
struct RowDecoder {
    private let decoder: JSONDecoder

    init() {
        decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            guard let date = WireDate.date(text) else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "not a date PostgreSQL writes"))
            }
            return date
        }
    }

    func decode<Value: Decodable>(_ type: Value.Type, from json: RawJSON, table: String?) throws(SyncError) -> Value {
        if let json = json as? Value { return json }
        do {
            return try decoder.decode(type, from: Data(json.bytes))
        } catch {
            throw SyncError(
                .decoding, "A row does not decode as the type asked for; the stored bytes are kept.", table: table,
                underlying: error)
        }
    }

    /// Each of these rows as the app's type, nil where one does not decode.
    func elements<Value: Decodable>(_ type: Value.Type, of rows: [RawJSON]) -> [Value]? {
        if let rows = rows as? [Value] { return rows }
        var data = Data(capacity: rows.reduce(2) { $0 + $1.bytes.count + 1 })
        data.append(UInt8(ascii: "["))
        for (index, row) in rows.enumerated() {
            if index > 0 { data.append(UInt8(ascii: ",")) }
            data.append(contentsOf: row.bytes)
        }
        data.append(UInt8(ascii: "]"))
        guard let values = try? decoder.decode([Value].self, from: data), values.count == rows.count else { return nil }
        return values
    }
}

/// Decodes the rows of one reader's snapshots, each row only when its bytes changed.
final class SnapshotDecoder<Value: Decodable & Sendable> {
    private let decoder = RowDecoder()
    private let table: String
    private let log: any LogSink
    private var rows: any RowsDecoding
    private var whole: (rows: [RawJSON], value: Value)?

    init(table: String, log: any LogSink) {
        self.table = table
        self.log = log
        rows = (Value.self as? any RowsValue.Type)?.makeDecoding() ?? NoRows()
    }

    func decode(_ snapshot: RawSnapshot) throws(SyncError) -> QuerySnapshot<Value> {
        var shown = snapshot.rows ?? []
        let result: Value?
        if let answer = snapshot.answer {
            result = try value(answer)
        } else {
            result = try snapshot.rows == nil ? nil : value(&shown)
        }
        return QuerySnapshot(
            result: result, isFromCache: snapshot.isFromCache, fetchedAt: snapshot.fetchedAt,
            hasPendingMutations: snapshot.hasPendingMutations, refresh: snapshot.refresh,
            isComplete: snapshot.isComplete, count: snapshot.count, shown: shown)
    }

    private func value(_ answer: ShapedAnswer) throws(SyncError) -> Value? {
        switch answer {
        case .nothing: return nil
        case .json(let json): return try decoder.decode(Value.self, from: json, table: table)
        case .text(let bytes):
            if let text = String(decoding: bytes, as: UTF8.self) as? Value { return text }
            throw SyncError(
                .decoding, "This answer is text and decodes as String alone; ask for it with as: String.self.",
                table: table)
        }
    }

    /// The rows as the app's type; rows that are left out are taken from `shown` too.
    private func value(_ shown: inout ShownRows) throws(SyncError) -> Value {
        let decoded = try rows.decode(&shown, with: decoder, table: table) { log.log($0) }
        if let decoded = decoded as? Value { return decoded }
        let json = shown.map(\.json)
        if let whole, whole.rows == json { return whole.value }
        let value = try decoder.decode(Value.self, from: RawJSON(elements: json), table: table)
        whole = (json, value)
        return value
    }
}

/// A type whose values are lists of rows.
protocol RowsValue {
    static func makeDecoding() -> any RowsDecoding
}

extension Array: RowsValue where Element: Decodable {
    static func makeDecoding() -> any RowsDecoding { ElementDecoding<Element>() }
}

/// Keeps decoded rows from one snapshot to the next.
protocol RowsDecoding {
    mutating func decode(
        _ shown: inout ShownRows, with decoder: RowDecoder, table: String, log: (LogLine) -> Void
    ) throws(SyncError) -> Any?
}

private struct NoRows: RowsDecoding {
    func decode(
        _ shown: inout ShownRows, with decoder: RowDecoder, table: String, log: (LogLine) -> Void
    ) throws(SyncError) -> Any? { nil }
}

private struct ElementDecoding<Element: Decodable>: RowsDecoding {
    private var before = ShownRows()
    /// The rows of `before`, decoded, without those that are left out.
    private var values: [Element] = []
    /// The list that was given out before `values`, and what has changed from it to `values`. By the next change its
    /// reader has most likely let go of it, so that it can be changed in place where `values` would have to be copied.
    private var spare: [Element] = []
    private var lag: [Patch] = []

    private struct Patch {
        let range: Range<Int>
        let values: [Element]
    }
    /// Which rows of `before`, counted from its first, are left out.
    private var omitted: Set<Int> = []

    mutating func decode(
        _ shown: inout ShownRows, with decoder: RowDecoder, table: String, log: (LogLine) -> Void
    ) throws(SyncError) -> Any? {
        // Only between the first and the last chunk that changed is there anything to look at.
        let shared = omitted.isEmpty ? shown.chunksShared(with: before) : (front: 0, back: 0)
        let former = before.rows(from: shared.front, butLast: shared.back)
        let rows = shown.rows(from: shared.front, butLast: shared.back)
        let start = before.count(ofFirst: shared.front)
        let known = decoded(from: start, former.count)
        var next: [Element?] = []
        next.reserveCapacity(rows.count)
        var fresh: [Int] = []
        var isInPlace = former.count == rows.count && omitted.isEmpty
        var shift = 0
        for (index, row) in rows.enumerated() {
            // Most rows stand where they stood, or a few places off behind an added or removed one.
            if let at = place(of: row.json, in: former, near: index + shift) {
                shift = at - index
                isInPlace = isInPlace && at == index
                next.append(known[at])
            } else {
                fresh.append(index)
                next.append(nil)
            }
        }
        try fill(&next, at: fresh, from: rows, decoder, table, log)
        before = shown
        if isInPlace, fresh.allSatisfy({ next[$0] != nil }) {
            put(
                fresh.compactMap { index in
                    next[index].map { Patch(range: (start + index)..<(start + index + 1), values: [$0]) }
                })
        } else {
            let stale = start..<(start + former.count - omitted.count)
            omitted = Set(next.indices.filter { next[$0] == nil }.map { start + $0 })
            put([Patch(range: stale, values: next.compactMap { $0 })])
        }
        if !omitted.isEmpty {
            shown = ShownRows(shown.enumerated().filter { !omitted.contains($0.offset) }.map(\.element))
        }
        return values
    }

    private mutating func put(_ patches: [Patch]) {
        guard !patches.isEmpty else { return }
        let size = patches.reduce(0) { $0 + $1.values.count + $1.range.count }
        if size <= max(4 * ShownRows.chunkSize, values.count / 2) {
            for patch in lag + patches { spare.replaceSubrange(patch.range, with: patch.values) }
            lag = patches
            swap(&spare, &values)
        } else {
            for patch in patches { values.replaceSubrange(patch.range, with: patch.values) }
            spare = values
            lag = []
        }
    }

    /// The values of so many rows of `before`, nil for those left out.
    private func decoded(from start: Int, _ count: Int) -> [Element?] {
        guard !omitted.isEmpty else { return values[start..<(start + count)].map { $0 } }
        var rest = values[...]
        return (0..<count).map { omitted.contains($0) ? nil : rest.popFirst() }
    }

    private func place(of json: RawJSON, in former: [ListFold.Row], near: Int) -> Int? {
        for candidate in [near, near + 1, near - 1] where former.indices.contains(candidate) {
            if former[candidate].json == json { return candidate }
        }
        return nil
    }

    /// Decodes the rows at these places, many at a time: most of what a row costs the decoder is its beginning. Where one
    /// does not decode, its group is taken row by row.
    private func fill(
        _ next: inout [Element?], at places: [Int], from rows: [ListFold.Row], _ decoder: RowDecoder, _ table: String,
        _ log: (LogLine) -> Void
    ) throws(SyncError) {
        for start in stride(from: 0, to: places.count, by: ShownRows.chunkSize) {
            let group = places[start..<Swift.min(start + ShownRows.chunkSize, places.count)]
            if group.count > 1, let elements = decoder.elements(Element.self, of: group.map { rows[$0].json }) {
                for (place, element) in zip(group, elements) { next[place] = element }
            } else {
                for place in group { next[place] = try element(rows[place], decoder, table, log) }
            }
        }
    }

    private func element(
        _ row: ListFold.Row, _ decoder: RowDecoder, _ table: String, _ log: (LogLine) -> Void
    ) throws(SyncError) -> Element? {
        do {
            return try decoder.decode(Element.self, from: row.json, table: table)
        } catch {
            // A queued row may lack what the server will add; it shows once the server has it.
            guard row.isPending else { throw error }
            log(LogLine(.warning, "A queued row does not decode and is left out", ["kizuna.table": table]))
            return nil
        }
    }
}
