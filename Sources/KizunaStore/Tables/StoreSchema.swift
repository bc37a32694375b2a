internal import KizunaCore

/// The store's tables by version, and the steps from each version to the next.
enum StoreSchema {
    /// The version this package writes. A file of a later version is refused, never rewritten.
    static let version: Int64 = 2

    /// `steps[n]` leads from version n to n + 1.
    private static let steps: [String] = [
        """
        CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        \(CachedQueriesTable.schema)
        \(RowsTable.schema)
        \(QueueTable.schema)
        \(RejectionsTable.schema)
        \(DeliveriesTable.schema)
        """,
        // What processes that share a vault know of each other.
        SharedTable.schema,
    ]

    /// Throws `storeTooNew` for a file of a later version.
    static func ensureKnown(_ connection: SQLiteConnection) throws(SyncError) {
        let found = try found(connection)
        guard found > version else { return }
        throw SyncError(
            .storeTooNew,
            "The store was written by a newer version of this package (format \(found), this one knows \(version)). "
                + "It is left as it is: update the app, or give another data directory.")
    }

    /// Brings an opened file to this version, all steps in one transaction.
    static func migrate(_ connection: SQLiteConnection) throws(SyncError) {
        guard try found(connection) < version else { return }
        try connection.transaction { () throws(SyncError) in
            // Another process may have done it while this one waited for its turn.
            let found = try found(connection)
            guard found < version else { return }
            for step in steps[Int(found)...] { try connection.execute(step) }
            try connection.execute("PRAGMA user_version = \(version)")
        }
    }

    private static func found(_ connection: SQLiteConnection) throws(SyncError) -> Int64 {
        let found = try connection.first("PRAGMA user_version") { (row) throws(SyncError) in row.integer(0) } ?? 0
        // No version of this package writes such a number.
        guard found >= 0 else { throw StoreFault.damaged }
        return found
    }
}
