internal import KizunaCore

/// What the processes that share a vault need to know of each other: one row, and the moves of each table.
struct SharedTable {
    static let schema = """
        CREATE TABLE shared (
            version INTEGER NOT NULL,
            cleared INTEGER NOT NULL,
            removed INTEGER NOT NULL,
            holder_process INTEGER,
            holder_run INTEGER,
            holder_opening INTEGER,
            lease_end INTEGER NOT NULL
        );
        INSERT INTO shared VALUES (0, 0, 0, NULL, NULL, NULL, 0);
        CREATE TABLE marks (
            schema TEXT NOT NULL,
            tbl TEXT NOT NULL,
            version INTEGER NOT NULL,
            PRIMARY KEY (schema, tbl)
        ) WITHOUT ROWID;
        ALTER TABLE lists ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE lists ADD COLUMN asked_at INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE lists ADD COLUMN used_by INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE queue ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
        """

    /// The row.
    struct Row: Sendable, Hashable {
        /// Moves with every transaction that changes more than adding writes to the queue.
        var version: Int64 = 0
        /// How often everything was cleared.
        var cleared: Int64 = 0
        /// How often lists were removed.
        var removed: Int64 = 0
        var lease = Lease()
    }

    let connection: SQLiteConnection

    func row() throws(SyncError) -> Row {
        try connection.first(
            "SELECT version, cleared, removed, holder_process, holder_run, holder_opening, lease_end FROM shared"
        ) { (row) throws(SyncError) in
            let holder = LeaseHolder(
                process: Int32(truncatingIfNeeded: row.integer(3)), run: UInt64(bitPattern: row.integer(4)),
                opening: row.integer(5))
            return Row(
                version: row.integer(0), cleared: row.integer(1), removed: row.integer(2),
                lease: Lease(holder: row.isNull(3) ? nil : holder, end: .microseconds(row.integer(6))))
        } ?? Row()
    }

    func set(_ row: Row) throws(SyncError) {
        let holder = row.lease.holder
        try connection.run(
            """
            UPDATE shared SET version = ?, cleared = ?, removed = ?, holder_process = ?, holder_run = ?,
            holder_opening = ?, lease_end = ?
            """, .integer(row.version), .integer(row.cleared), .integer(row.removed),
            holder.map { .integer(Int64($0.process)) } ?? .null,
            holder.map { .integer(Int64(bitPattern: $0.run)) } ?? .null, holder.map { .integer($0.opening) } ?? .null,
            .integer(row.lease.end.wholeMicroseconds))
    }

    /// Notes that answers asked for before this version are too old for a table.
    func mark(_ table: TableID, at version: Int64) throws(SyncError) {
        try connection.run(
            "INSERT OR REPLACE INTO marks (schema, tbl, version) VALUES (?, ?, ?)", .text(table.schema),
            .text(table.name), .integer(version))
    }

    /// The tables that were marked after a version.
    func marked(after version: Int64) throws(SyncError) -> [TableID] {
        try connection.rows("SELECT schema, tbl FROM marks WHERE version > ?", .integer(version)) {
            (row) throws(SyncError) in TableID(schema: row.text(0), name: row.text(1))
        }
    }
}

extension Duration {
    /// As the store keeps instants of the machine's clock, rounded down.
    var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
