internal import CSQLite
internal import KizunaCore

/// One SQLite connection, used from one executor only. The only file besides `SQLiteStatement` that calls C.
final class SQLiteConnection {
    private let handle: OpaquePointer
    private let busyTimeout: Int32
    private var statements: [String: SQLiteStatement] = [:]
    private var dataVersionStatement: SQLiteStatement?
    /// Statements asked for so far, those of a loop once.
    private(set) var statementsRun = 0
    /// Called in the last moment before each commit of a write transaction; tests kill the process there, or throw to
    /// make the commit fail.
    var willCommit: (@Sendable () throws(SyncError) -> Void)?
    /// Called when a statement meets a damaged page.
    var foundDamage: (@Sendable () -> Void)?

    /// Opens or creates the file at `path`; `:memory:` keeps everything in memory.
    init(path: String, busyTimeout: Duration, mayCreate: Bool = true) throws(SyncError) {
        var opened: OpaquePointer?
        let flags =
            SQLITE_OPEN_READWRITE | (mayCreate ? SQLITE_OPEN_CREATE : 0) | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard let opened else {
            throw SyncError(.storage, "SQLite has no memory to open the store.")
        }
        guard code == SQLITE_OK else {
            sqlite3_close_v2(opened)
            throw StoreFault.error(code: code, doing: "open the store")
        }
        handle = opened
        self.busyTimeout = Int32(busyTimeout.seconds * 1000)
        sqlite3_busy_timeout(handle, self.busyTimeout)
    }

    /// Finalizes all statements and closes the file.
    func close() {
        statements.removeAll()
        dataVersionStatement = nil
        sqlite3_close_v2(handle)
    }

    /// Runs statements that take no parameters and give no rows.
    func execute(_ sql: String) throws(SyncError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw StoreFault.error(code: code, doing: "run a statement") }
    }

    /// The prepared statement for this text; prepared once and kept.
    func statement(_ sql: String) throws(SyncError) -> SQLiteStatement {
        statementsRun += 1
        if let known = statements[sql] { return known }
        let made = try SQLiteStatement(sql, on: handle)
        statements[sql] = made
        return made
    }

    /// Runs a statement to its end.
    func run(_ sql: String, _ values: SQLiteValue...) throws(SyncError) {
        try noting { () throws(SyncError) in try statement(sql).run(values) }
    }

    /// All rows of a query, each made by `row`.
    func rows<Row>(
        _ sql: String, _ values: SQLiteValue..., row: (SQLiteStatement) throws(SyncError) -> Row
    ) throws(SyncError) -> [Row] {
        try noting { () throws(SyncError) in try statement(sql).rows(values, row: row) }
    }

    /// The first row of a query, made by `row`.
    func first<Row>(
        _ sql: String, _ values: SQLiteValue..., row: (SQLiteStatement) throws(SyncError) -> Row
    ) throws(SyncError) -> Row? {
        try noting { () throws(SyncError) in try statement(sql).rows(values, limit: 1, row: row).first }
    }

    /// Tells of damage that `body` meets.
    private func noting<Result>(_ body: () throws(SyncError) -> Result) throws(SyncError) -> Result {
        do throws(SyncError) {
            return try body()
        } catch {
            if error.code == .storeCorrupt { foundDamage?() }
            throw error
        }
    }

    /// Runs `body` in one write transaction: all of it is durable when this returns, or none of it happened.
    func transaction<Result>(_ body: () throws(SyncError) -> Result) throws(SyncError) -> Result {
        try execute("BEGIN IMMEDIATE")
        do throws(SyncError) {
            return try noting { () throws(SyncError) in
                let result = try body()
                try willCommit?()
                try execute("COMMIT")
                return result
            }
        } catch {
            // SQLite may have rolled back by itself (full disk); a second rollback is refused and harmless.
            try? execute("ROLLBACK")
            throw error
        }
    }

    /// Runs `body` on one state of the file, which other processes do not change under it.
    func snapshot<Result>(_ body: () throws(SyncError) -> Result) throws(SyncError) -> Result {
        try execute("BEGIN")
        do throws(SyncError) {
            let result = try noting { () throws(SyncError) in try body() }
            try execute("COMMIT")
            return result
        } catch {
            try? execute("ROLLBACK")
            throw error
        }
    }

    /// Whether another file, or none, is where this one was opened: it was removed or moved aside.
    var hasMoved: Bool {
        var hasMoved: Int32 = 0
        return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved) == SQLITE_OK && hasMoved != 0
    }

    /// Another number than before where another connection has committed meanwhile; one's own commits do not move it.
    func dataVersion() throws(SyncError) -> Int64 {
        if dataVersionStatement == nil { dataVersionStatement = try SQLiteStatement("PRAGMA data_version", on: handle) }
        let version = try dataVersionStatement?.rows([], limit: 1) { (row) throws(SyncError) in row.integer(0) }
        return version?.first ?? 0
    }

    /// Waits on this thread, as SQLite does for a lock.
    static func pause(milliseconds: Int32) { sqlite3_sleep(milliseconds) }

    /// Does something that need not be done, and leaves it where another process writes at the moment.
    func attempt(_ body: () throws(SyncError) -> Void) {
        sqlite3_busy_timeout(handle, 0)
        defer { sqlite3_busy_timeout(handle, busyTimeout) }
        try? body()
    }

    var lastInsertedRowID: Int64 { sqlite3_last_insert_rowid(handle) }
    var changedRows: Int { Int(sqlite3_changes(handle)) }
}
