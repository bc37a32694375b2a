internal import Foundation
internal import KizunaCore

/// Encodes the app's values as JSON rows.
enum RowEncoder {
    /// Returns the rows of a value that encodes as an object or an array of objects.
    static func rows(_ value: some Encodable, table: String) throws(SyncError) -> [RawJSON] {
        let json = try encoded(value, table: table)
        switch json.kind {
        case .object: return [json]
        case .array:
            guard let rows = try? json.arrayElements(), rows.allSatisfy({ $0.kind == .object }) else { break }
            return rows
        default: break
        }
        throw notRows(table)
    }

    static func object(_ value: some Encodable, table: String) throws(SyncError) -> RawJSON? {
        let json = try encoded(value, table: table)
        guard json.kind == .object else { throw notRows(table) }
        return json
    }

    private static func notRows(_ table: String) -> SyncError {
        SyncError(.notQueueable, "Only a JSON object or an array of JSON objects can be written.", table: table)
    }

    private static func encoded(_ value: some Encodable, table: String) throws(SyncError) -> RawJSON {
        if let json = value as? RawJSON { return json }
        if let rows = value as? [RawJSON] { return RawJSON(elements: rows) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(WireDate.text(date))
        }
        do {
            return try RawJSON(validating: Array(try encoder.encode(value)))
        } catch {
            throw SyncError(
                .notQueueable, "The value cannot be encoded as JSON.", table: table, underlying: error)
        }
    }
}
