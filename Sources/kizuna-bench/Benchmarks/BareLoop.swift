internal import CSQLite
internal import KizunaCore

/// The reference for storing a response: the same keys and bytes into the same table, with only SQLite calls. The rows
/// are split before the measurement.
enum BareLoop {
    struct Row {
        let key: [UInt8]
        let body: Range<Int>
    }

    static func rows(of body: [UInt8]) throws -> [Row] {
        try JSONArraySplitter(keyColumns: ["id"]).rows(of: body).map {
            Row(key: Array(($0.key?.text ?? "").utf8), body: $0.range)
        }
    }

    static func run(_ rows: [Row], _ body: [UInt8], path: String) throws -> Duration {
        var opened: OpaquePointer?
        guard sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil) == SQLITE_OK else {
            throw BenchFault("SQLite does not open")
        }
        defer { sqlite3_close_v2(opened) }
        for sql in [
            "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL",
            "CREATE TABLE rows (id INTEGER PRIMARY KEY, key TEXT, body BLOB NOT NULL)",
        ] { try execute(sql, opened) }
        return try time { try insert(rows, body, opened) }
    }

    private static func insert(_ rows: [Row], _ body: [UInt8], _ database: OpaquePointer?) throws {
        var statement: OpaquePointer?
        let sql = "INSERT INTO rows (id, key, body) VALUES (?, ?, ?)"
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else {
            throw BenchFault("SQLite does not prepare")
        }
        defer { sqlite3_finalize(statement) }
        try execute("BEGIN IMMEDIATE", database)
        try body.withUnsafeBufferPointer { buffer in
            for (index, row) in rows.enumerated() {
                sqlite3_bind_int64(statement, 1, Int64(index) + 1 << 32)
                row.key.withUnsafeBufferPointer { key in
                    _ = sqlite3_bind_text64(
                        statement, 2, UnsafeRawPointer(key.baseAddress)?.assumingMemoryBound(to: CChar.self),
                        UInt64(key.count), kizuna_sqlite_transient(), UInt8(SQLITE_UTF8))
                }
                sqlite3_bind_blob64(
                    statement, 3, buffer.baseAddress?.advanced(by: row.body.lowerBound), UInt64(row.body.count),
                    kizuna_sqlite_static())
                guard sqlite3_step(statement) == SQLITE_DONE else { throw BenchFault("SQLite does not insert") }
                sqlite3_reset(statement)
            }
        }
        try execute("COMMIT", database)
    }

    private static func execute(_ sql: String, _ database: OpaquePointer?) throws {
        guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else {
            throw BenchFault("SQLite refuses \(sql)")
        }
    }
}
