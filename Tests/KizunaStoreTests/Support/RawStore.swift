import CSQLite

/// A store file seen by another program: plain SQLite, none of the package's code.
final class RawStore {
    struct Failure: Error { let code: Int32 }

    private let handle: OpaquePointer

    init(_ path: String) throws {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
        guard code == SQLITE_OK, let opened else { throw Failure(code: code) }
        handle = opened
    }

    func close() { sqlite3_close_v2(handle) }

    func execute(_ sql: String) throws {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw Failure(code: code) }
    }

    /// The first column of the first row.
    func number(_ sql: String) throws -> Int64 {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        guard code == SQLITE_OK else { throw Failure(code: code) }
        defer { sqlite3_finalize(statement) }
        let step = sqlite3_step(statement)
        guard step == SQLITE_ROW else { throw Failure(code: step) }
        return sqlite3_column_int64(statement, 0)
    }
}
