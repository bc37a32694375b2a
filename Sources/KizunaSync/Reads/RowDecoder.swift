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

    /// `shared` are the rows the client's other live reads have decoded.
    init(table: String, log: any LogSink, shared: DecodedRowsByType? = nil) {
        self.table = table
        self.log = log
        rows = (Value.self as? any RowsValue.Type)?.makeDecoding(shared) ?? NoRows()
    }

    func decode(_ snapshot: RawSnapshot) throws(SyncError) -> QuerySnapshot<Value> {
        var shown = snapshot.rows ?? []
        let result: Value?
        if let response = snapshot.response {
            result = try value(response)
        } else {
            result = try snapshot.rows == nil ? nil : value(&shown)
        }
        return QuerySnapshot(
            result: result, isFromCache: snapshot.isFromCache, fetchedAt: snapshot.fetchedAt,
            hasPendingMutations: snapshot.hasPendingMutations, refresh: snapshot.refresh,
            isComplete: snapshot.isComplete, count: snapshot.count, shown: shown)
    }

    private func value(_ response: ShapedResponse) throws(SyncError) -> Value? {
        switch response {
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
