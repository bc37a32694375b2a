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
    private func value(_ shown: inout [ListFold.Row]) throws(SyncError) -> Value {
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
        _ shown: inout [ListFold.Row], with decoder: RowDecoder, table: String, log: (LogLine) -> Void
    ) throws(SyncError) -> Any?
}

private struct NoRows: RowsDecoding {
    func decode(
        _ shown: inout [ListFold.Row], with decoder: RowDecoder, table: String, log: (LogLine) -> Void
    ) throws(SyncError) -> Any? { nil }
}

private struct ElementDecoding<Element: Decodable>: RowsDecoding {
    private var before: [RawJSON] = []
    private var decoded: [Element?] = []

    mutating func decode(
        _ shown: inout [ListFold.Row], with decoder: RowDecoder, table: String, log: (LogLine) -> Void
    ) throws(SyncError) -> Any? {
        var next: [Element?] = []
        next.reserveCapacity(shown.count)
        var shift = 0
        for (index, row) in shown.enumerated() {
            // Most rows stand where they stood, or a few places off behind an added or removed one.
            if let at = place(of: row.json, near: index + shift) {
                shift = at - index
                next.append(decoded[at])
            } else {
                next.append(try element(row, decoder, table, log))
            }
        }
        before = shown.map(\.json)
        decoded = next
        guard next.contains(where: { $0 == nil }) else { return next.compactMap { $0 } }
        shown = zip(shown, next).filter { $0.1 != nil }.map(\.0)
        return next.compactMap { $0 }
    }

    private func place(of json: RawJSON, near: Int) -> Int? {
        for candidate in [near, near + 1, near - 1] where before.indices.contains(candidate) {
            if before[candidate] == json { return candidate }
        }
        return nil
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
