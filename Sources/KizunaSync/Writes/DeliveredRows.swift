public import KizunaCore

/// The rows of the server's responses to a write. Empty for a table whose rows the session may not read.
public struct DeliveredRows: Sendable {
    /// The JSON of the rows, byte for byte.
    public let rows: [RawJSON]

    /// Returns the decoded rows.
    ///
    /// - Throws: `SyncError` with code `decoding`.
    public func decode<Row: Decodable>(as type: Row.Type) throws -> [Row] {
        let decoder = RowDecoder()
        return try rows.map { try decoder.decode(type, from: $0, table: nil) }
    }
}
