internal import CSQLite
internal import KizunaCore

/// A value bound to a statement's parameter.
enum SQLiteValue {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    static func int(_ value: Int) -> SQLiteValue { .integer(Int64(value)) }
    static func bool(_ value: Bool) -> SQLiteValue { .integer(value ? 1 : 0) }
    static func optional(_ value: String?) -> SQLiteValue { value.map { .text($0) } ?? .null }
    static func optional(_ value: [UInt8]?) -> SQLiteValue { value.map { .blob($0) } ?? .null }
    static func optional(_ value: Double?) -> SQLiteValue { value.map { .real($0) } ?? .null }
}

/// One prepared statement.
final class SQLiteStatement {
    private let handle: OpaquePointer

    init(_ sql: String, on connection: OpaquePointer) throws(SyncError) {
        var made: OpaquePointer?
        let code = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil)
        guard code == SQLITE_OK, let made else { throw StoreFault.error(code: code, doing: "prepare a statement") }
        handle = made
    }

    deinit { sqlite3_finalize(handle) }

    /// Runs to the end, dropping rows.
    func run(_ values: [SQLiteValue]) throws(SyncError) {
        _ = try rows(values) { (_) throws(SyncError) in }
    }

    /// Runs and makes a value of each row.
    func rows<Row>(
        _ values: [SQLiteValue], limit: Int = .max, row: (SQLiteStatement) throws(SyncError) -> Row
    ) throws(SyncError) -> [Row] {
        defer {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
        for (index, value) in values.enumerated() { try bind(value, at: index + 1) }
        var made: [Row] = []
        while made.count < limit, try step() { made.append(try row(self)) }
        return made
    }

    /// Binds a key and a stretch of a buffer that outlives the step, and runs: the hot path of storing an answer.
    func insertRow(id: Int64, key: String?, body: UnsafeBufferPointer<UInt8>) throws(SyncError) {
        defer { sqlite3_reset(handle) }
        sqlite3_bind_int64(handle, 1, id)
        try check(sqlite3_bind_blob64(handle, 3, body.baseAddress, UInt64(body.count), kizuna_sqlite_static()))
        guard var key else {
            try check(sqlite3_bind_null(handle, 2))
            _ = try step()
            return
        }
        // The key's bytes are lent to SQLite for the one step.
        let code = key.withUTF8 { text in
            let bound = sqlite3_bind_text64(
                handle, 2, UnsafeRawPointer(text.baseAddress)?.assumingMemoryBound(to: CChar.self), UInt64(text.count),
                kizuna_sqlite_static(), UInt8(SQLITE_UTF8))
            return bound == SQLITE_OK ? sqlite3_step(handle) : bound
        }
        guard code == SQLITE_DONE else { throw StoreFault.error(code: code, doing: "read or write the store") }
    }

    private func step() throws(SyncError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw StoreFault.error(code: code, doing: "read or write the store")
        }
    }

    private func bind(_ value: SQLiteValue, at index: Int) throws(SyncError) {
        let index = Int32(index)
        switch value {
        case .null: try check(sqlite3_bind_null(handle, index))
        case .integer(let value): try check(sqlite3_bind_int64(handle, index, value))
        case .real(let value): try check(sqlite3_bind_double(handle, index, value))
        case .text(var value):
            try check(
                value.withUTF8 {
                    sqlite3_bind_text64(
                        handle, index, UnsafeRawPointer($0.baseAddress)?.assumingMemoryBound(to: CChar.self),
                        UInt64($0.count), kizuna_sqlite_transient(), UInt8(SQLITE_UTF8))
                })
        case .blob(let value):
            try check(
                value.isEmpty
                    ? sqlite3_bind_zeroblob(handle, index, 0)
                    : value.withUnsafeBytes {
                        sqlite3_bind_blob64(handle, index, $0.baseAddress, UInt64($0.count), kizuna_sqlite_transient())
                    })
        }
    }

    private func check(_ code: Int32) throws(SyncError) {
        guard code == SQLITE_OK else { throw StoreFault.error(code: code, doing: "bind a value") }
    }

    // MARK: - Columns of the current row

    func isNull(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL }
    func integer(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }
    func int(_ column: Int) -> Int { Int(integer(column)) }
    func bool(_ column: Int) -> Bool { integer(column) != 0 }
    func real(_ column: Int) -> Double { sqlite3_column_double(handle, Int32(column)) }

    func text(_ column: Int) -> String { String(decoding: bytes(column), as: UTF8.self) }
    func optionalText(_ column: Int) -> String? { isNull(column) ? nil : text(column) }
    func optionalBytes(_ column: Int) -> [UInt8]? { isNull(column) ? nil : bytes(column) }

    func bytes(_ column: Int) -> [UInt8] {
        guard let start = sqlite3_column_blob(handle, Int32(column)) else { return [] }
        let count = Int(sqlite3_column_bytes(handle, Int32(column)))
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// Whether the cell holds exactly these bytes, without copying it.
    func holds(_ column: Int, _ expected: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let start = sqlite3_column_blob(handle, Int32(column)) else { return expected.isEmpty }
        let count = Int(sqlite3_column_bytes(handle, Int32(column)))
        return ByteWords.areEqual(UnsafeRawBufferPointer(start: start, count: count), UnsafeRawBufferPointer(expected))
    }

    /// A cell's bytes in place.
    func withBytes<Result>(_ column: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let start = sqlite3_column_blob(handle, Int32(column))
        return body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, Int32(column)))))
    }
}
