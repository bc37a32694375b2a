package import Foundation
internal import Synchronization
package import KizunaCore

/// The store of one owner: cached lists, queue and refusals in one file. In this process this actor alone writes it; other
/// processes may have it open too (decision 012).
///
/// Every method is one transaction. What it changed is handed to `onChange` after the commit, on this actor, so
/// changes arrive in commit order and each one whole. What other processes changed is handed over before anything that
/// was built on it.
package actor OwnerStore {
    private let executor: any SerialExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// What became of a damaged file that was found when this vault was opened.
    package nonisolated let damage: StoreDamage?
    /// Where it was moved.
    package nonisolated var movedAside: String? { damage?.path }

    /// Another one after the file was replaced.
    private(set) var connection: SQLiteConnection
    private let file: StoreFile
    private let owner: String
    private let openedAt: Date
    private let willCommit: (@Sendable () throws(SyncError) -> Void)?
    let logicalClock: LogicalClock
    private let onChange: @Sendable (StoreChange) -> Void
    /// Whether a list shows rows of a table inside those of its own.
    let mayShow: @Sendable (CachedQueryMetadata, TableID) -> Bool
    /// What a cached row must be like for a write that names no keys to change it; nil where that is no question.
    let reach: @Sendable (QueuedMutation) -> (@Sendable (RawJSON) -> Bool)?
    /// The last change of each table's cached rows (docs/spec/reads.md, Order of responses and changes). Ticks need not
    /// outlive the process: no request does.
    var marks: [TableID: LogicalTime] = [:]
    /// The tick of the request that brought each list.
    var answered: [String: LogicalTime] = [:]
    var clearedAt = LogicalTime.zero
    var keyPlaces: [TableID: KeyPlaces] = [:]
    var depth: Int
    nonisolated let sharing: StoreSharing?
    let holder: LeaseHolder?
    var others: ExternalChanges
    /// Rows of cached lists written so far; what tests hold against what should have been.
    package internal(set) var rowsWritten = 0
    /// SQL statements run so far, begin and commit not counted; for the same purpose.
    package var statementsRun: Int { connection.statementsRun }
    var isClosed = false
    private static let openings = Atomic<Int64>(0)

    var meta: MetaTable { MetaTable(connection: connection) }
    var lists: CachedQueriesTable { CachedQueriesTable(connection: connection) }
    var rows: RowsTable { RowsTable(connection: connection) }
    var queue: QueueTable { QueueTable(connection: connection) }
    var deliveries: DeliveriesTable { DeliveriesTable(connection: connection) }
    var sharedTable: SharedTable { SharedTable(connection: connection) }
    var rejections: RejectionsTable { RejectionsTable(connection: connection) }

    /// Opens or creates a vault; an existing one of another owner is refused. It runs on `executor`, nil being a queue of
    /// its own. `sharing` is what is needed where other processes may have the file open. `willCommit` is called in the
    /// last moment before each commit, for tests that kill the process there or throw to make it fail; `mayShow` tells
    /// whether a list shows rows of a table inside those of its own, `reach` which rows an update without keys changes.
    package init(
        file: StoreFile, owner: String, logicalClock: LogicalClock, now: Date, executor: (any SerialExecutor)? = nil,
        sharing: StoreSharing? = nil, willCommit: (@Sendable () throws(SyncError) -> Void)? = nil,
        mayShow: @escaping @Sendable (CachedQueryMetadata, TableID) -> Bool = { _, _ in false },
        reach: @escaping @Sendable (QueuedMutation) -> (@Sendable (RawJSON) -> Bool)? = { _ in nil },
        onChange: @escaping @Sendable (StoreChange) -> Void
    ) throws(SyncError) {
        let opened = try Self.open(file, owner: owner, now: now)
        opened.connection.willCommit = willCommit
        self.file = file
        self.owner = owner
        openedAt = now
        self.willCommit = willCommit
        connection = opened.connection
        damage = opened.damage
        others = opened.found
        depth = opened.found.queue.count
        self.sharing = sharing
        holder = sharing.map {
            let opening = Self.openings.add(1, ordering: .relaxed).newValue
            return LeaseHolder(process: $0.host.number, run: $0.host.run, opening: opening)
        }
        self.logicalClock = logicalClock
        self.executor = executor ?? SerialQueueExecutor(label: "kizuna.vault")
        self.onChange = onChange
        self.mayShow = mayShow
        self.reach = reach
    }

    private static func open(
        _ file: StoreFile, owner: String, now: Date
    ) throws(SyncError) -> (connection: SQLiteConnection, damage: StoreDamage?, found: ExternalChanges) {
        try file.open(now: now) { (connection) throws(SyncError) in
            try claim(connection, for: owner)
            // What the app must not lose is read now, so that damage to it shows before anything relies on it.
            return try connection.snapshot { () throws(SyncError) in
                let found = try ExternalChanges(connection)
                // Where a page has lost rows without a sign, the index still knows of them.
                guard try QueueTable(connection: connection).indexedCount() == found.queue.count else {
                    throw StoreFault.damaged
                }
                return found
            }
        }
    }

    private static func claim(_ connection: SQLiteConnection, for owner: String) throws(SyncError) {
        let meta = MetaTable(connection: connection)
        guard let found = try meta.value("owner") else { return try meta.set("owner", to: owner) }
        guard found == owner else {
            throw SyncError(.storage, "The vault file belongs to another owner; it is left as it is.")
        }
    }

    /// Whose vault a file is; nil where there is none or it cannot be read. The file is left as it is.
    package static func owner(of file: StoreFile) -> String? {
        let found = try? file.peek { (connection) throws(SyncError) in
            try MetaTable(connection: connection).value("owner")
        }
        return found ?? nil
    }

    /// How many writes wait in a vault that is not open. The file is left as it is.
    package static func pendingMutationCount(of file: StoreFile) -> Int {
        let found = try? file.peek { (connection) throws(SyncError) in try QueueTable(connection: connection).count() }
        return (found ?? nil) ?? 0
    }

    /// How many writes wait for their verdict.
    package func pendingMutationCount() throws(SyncError) -> Int {
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
        sharing?.signal?.stop()
        giveLeaseBack()
        isClosed = true
        connection.close()
    }

    /// One write transaction; publishes the change it made once it is durable.
    func commit<Result>(
        _ body: (inout StoreChange) throws(SyncError) -> Result
    ) throws(SyncError) -> Result {
        try ensureOpen()
        let rest = sharing?.stayAwake()
        defer { rest?() }
        var change = StoreChange()
        var news: StoreChange?
        var before = (depth: depth, marks: marks, answered: answered, clearedAt: clearedAt, shared: others.shared)
        var isMoved = false
        let result: Result
        do throws(SyncError) {
            result = try connection.transaction { () throws(SyncError) in
                // Looked at while nobody else can remove the file.
                isMoved = sharing != nil && connection.hasMoved
                guard !isMoved else { throw StoreFault.moved }
                news = try takeInOthers()
                before = (depth, marks, answered, clearedAt, others.shared)
                let result = try body(&change)
                if others.shared != before.shared { try sharedTable.set(others.shared) }
                return result
            }
        } catch {
            if isMoved {
                try reopen()
                return try commit(body)
            }
            (depth, marks, answered, clearedAt, others.shared) = before
            keyPlaces = [:]
            publish(news)
            throw error
        }
        publish(news)
        others.follow(change)
        if !change.isSilent { publish(change) }
        if !change.isSilent || others.shared != before.shared { sharing?.signal?.tell() }
        return result
    }

    /// Reads several things of one moment, and hands over what other processes changed before.
    func reading<Result>(_ body: () throws(SyncError) -> Result) throws(SyncError) -> Result {
        try ensureOpen()
        let rest = sharing?.stayAwake()
        defer { rest?() }
        if sharing != nil, connection.hasMoved { try reopen() }
        var news: StoreChange?
        let result = try connection.snapshot { () throws(SyncError) in
            news = try takeInOthers()
            return try body()
        }
        publish(news)
        return result
    }

    /// Another process removed the file or moved it aside. What it held is gone for everybody; a new one takes its place.
    private func reopen() throws(SyncError) {
        let opened = try Self.open(file, owner: owner, now: openedAt)
        opened.connection.willCommit = willCommit
        connection.close()
        connection = opened.connection
        var change = StoreChange()
        change.isOthers = true
        change.isCleared = true
        change.queued = try queue.all()
        let queuedAgain = Set(change.queued.map(\.id))
        change.ended = others.waiting.map {
            .init(id: $0.id, table: $0.table, fate: queuedAgain.contains($0.id) ? .queuedAgain : .withdrawn)
        }
        change.unrejected = others.rejected.keys.sorted()
        change.rejected = try rejections.all()
        others = opened.found
        depth = others.queue.count
        keyPlaces = [:]
        clearedAt = logicalClock.next()
        answered = [:]
        publish(change)
    }

    func publish(_ change: StoreChange?) {
        guard var change else { return }
        change.queueDepth = depth
        onChange(change)
    }

    /// The version of this transaction; its first call moves the file's.
    func nextVersion() -> Int64 {
        if !others.isMoved {
            others.isMoved = true
            others.shared.version += 1
        }
        return others.shared.version
    }

    func ensureOpen() throws(SyncError) {
        guard !isClosed else { throw SyncError(.closed, "The store is closed.") }
    }
}
