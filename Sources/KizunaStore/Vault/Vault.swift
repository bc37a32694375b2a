package import Foundation
package import KizunaCore

/// The store of one owner: cached lists, queue and refusals in one file, written by this actor alone.
///
/// Every method is one transaction. What it changed is handed to `onChange` after the commit, on this actor, so
/// changes arrive in commit order and each one whole.
package actor Vault {
    private let executor: any SerialExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Where a damaged file was moved when this vault was opened.
    package nonisolated let movedAside: String?

    let connection: SQLiteConnection
    let ticks: TickSource
    private let onChange: @Sendable (VaultChange) -> Void
    /// Whether a list shows rows of a table inside those of its own.
    let mayShow: @Sendable (ListHead, TableID) -> Bool
    /// The last change of each table's cached rows (spec reads §6.5). Ticks need not outlive the process: no request does.
    var marks: [TableID: Tick] = [:]
    /// The tick of the request that brought each list.
    var answered: [String: Tick] = [:]
    var clearedAt = Tick.zero
    var keyPlaces: [TableID: KeyPlaces] = [:]
    var depth: Int
    /// Rows of cached lists written so far; what tests hold against what should have been.
    package internal(set) var rowsWritten = 0
    /// SQL statements run so far, begin and commit not counted; for the same purpose.
    package var statementsRun: Int { connection.statementsRun }
    private var isClosed = false

    var meta: MetaTable { MetaTable(connection: connection) }
    var lists: ListsTable { ListsTable(connection: connection) }
    var rows: RowsTable { RowsTable(connection: connection) }
    var queue: QueueTable { QueueTable(connection: connection) }
    var deliveries: DeliveriesTable { DeliveriesTable(connection: connection) }
    var refusals: RefusalsTable { RefusalsTable(connection: connection) }

    /// Opens or creates a vault; an existing one of another owner is refused. It runs on `executor`, nil being a queue of
    /// its own. `willCommit` is called in the last moment before each commit, for tests that kill the process there;
    /// `mayShow` tells whether a list shows rows of a table inside those of its own.
    package init(
        file: VaultFile, owner: String, ticks: TickSource, now: Date, executor: (any SerialExecutor)? = nil,
        willCommit: (@Sendable () -> Void)? = nil,
        mayShow: @escaping @Sendable (ListHead, TableID) -> Bool = { _, _ in false },
        onChange: @escaping @Sendable (VaultChange) -> Void
    ) throws(SyncError) {
        let opened = try file.open(now: now) { (connection) throws(SyncError) in
            try Self.claim(connection, for: owner)
            // What the app must not lose is read now, so that damage to it shows before anything relies on it.
            _ = try RefusalsTable(connection: connection).all()
            return try QueueTable(connection: connection).all().count
        }
        opened.connection.willCommit = willCommit
        connection = opened.connection
        movedAside = opened.movedAside
        depth = opened.found
        self.ticks = ticks
        self.executor = executor ?? SerialQueueExecutor(label: "kizuna.vault")
        self.onChange = onChange
        self.mayShow = mayShow
    }

    private static func claim(_ connection: SQLiteConnection, for owner: String) throws(SyncError) {
        let meta = MetaTable(connection: connection)
        guard let found = try meta.value("owner") else { return try meta.set("owner", to: owner) }
        guard found == owner else {
            throw SyncError(.storage, "The vault file belongs to another owner; it is left as it is.")
        }
    }

    /// Whose vault a file is; nil where there is none or it cannot be read. The file is left as it is.
    package static func owner(of file: VaultFile) -> String? {
        let found = try? file.peek { (connection) throws(SyncError) in
            try MetaTable(connection: connection).value("owner")
        }
        return found ?? nil
    }

    /// How many writes wait in a vault that is not open. The file is left as it is.
    package static func pendingCount(of file: VaultFile) -> Int {
        let found = try? file.peek { (connection) throws(SyncError) in try QueueTable(connection: connection).count() }
        return (found ?? nil) ?? 0
    }

    /// How many writes wait for their verdict.
    package func pendingCount() throws(SyncError) -> Int {
        try ensureOpen()
        return depth
    }

    /// Leaves the disk's own cache alone from now on: a write is then only as safe as the operating system. For
    /// measurements of how much of a time is the disk's.
    package func relaxDurability() throws(SyncError) {
        try ensureOpen()
        try connection.execute("PRAGMA synchronous = OFF")
    }

    /// Closes the file. Later calls throw `closed`.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        connection.close()
    }

    /// One write transaction; publishes the change it made once it is durable.
    func commit<Result>(
        _ body: (inout VaultChange) throws(SyncError) -> Result
    ) throws(SyncError) -> Result {
        try ensureOpen()
        var change = VaultChange()
        let before = (depth: depth, marks: marks, answered: answered, clearedAt: clearedAt)
        do throws(SyncError) {
            let result = try connection.transaction { () throws(SyncError) in try body(&change) }
            change.queueDepth = depth
            onChange(change)
            return result
        } catch {
            (depth, marks, answered, clearedAt) = before
            keyPlaces = [:]
            throw error
        }
    }

    func ensureOpen() throws(SyncError) {
        guard !isClosed else { throw SyncError(.closed, "The store is closed.") }
    }
}
