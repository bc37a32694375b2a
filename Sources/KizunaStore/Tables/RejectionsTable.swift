internal import Foundation
internal import KizunaCore

/// The writes the server refused for good, until the app has dealt with them.
struct RejectionsTable {
    static let schema = """
        CREATE TABLE refusals (
            id TEXT PRIMARY KEY,
            \(WriteColumns.schema),
            refused_at REAL NOT NULL,
            status INTEGER NOT NULL,
            code TEXT,
            message TEXT,
            details TEXT,
            hint TEXT,
            depends_on TEXT,
            server_row BLOB
        );
        """

    let connection: SQLiteConnection

    private static let columns =
        "id, refused_at, status, code, message, details, hint, depends_on, server_row, \(WriteColumns.names), rowid"

    private static func rejection(_ row: SQLiteStatement) throws(SyncError) -> RejectedEntry {
        RejectedEntry(
            entry: try WriteColumns.entry(row, id: row.text(0), from: 9),
            failure: ServerFailure(
                status: row.int(2), code: row.optionalText(3), message: row.optionalText(4),
                details: row.optionalText(5), hint: row.optionalText(6)),
            dependsOn: row.optionalText(7), serverRow: row.optionalBytes(8).map { RawJSON(unchecked: $0) },
            rejectedAt: Date(timeIntervalSince1970: row.real(1)))
    }

    func all() throws(SyncError) -> [RejectedEntry] {
        try connection.rows("SELECT \(Self.columns) FROM refusals ORDER BY rowid", row: Self.rejection)
    }

    /// The row a search finds, read on its own: its number, and the refusal unless that cannot be read.
    func next(_ search: RowSearch) throws(SyncError) -> (row: RejectedEntry?, number: Int64)? {
        let clause = search.clause("rowid")
        return try connection.first("SELECT \(Self.columns) FROM refusals \(clause.sql)", clause.value) {
            (row) throws(SyncError) in (try? Self.rejection(row), row.integer(9 + WriteColumns.count))
        }
    }

    func insert(_ rejected: RejectedEntry) throws(SyncError) {
        let statement = try connection.statement(
            """
            INSERT OR REPLACE INTO refusals
            (id, refused_at, status, code, message, details, hint, depends_on, server_row, \(WriteColumns.names))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, \(WriteColumns.marks))
            """)
        try statement.run(
            [
                .text(rejected.entry.id), .real(rejected.rejectedAt.timeIntervalSince1970),
                .int(rejected.failure.status),
                .optional(rejected.failure.code), .optional(rejected.failure.message),
                .optional(rejected.failure.details), .optional(rejected.failure.hint), .optional(rejected.dependsOn),
                .optional(rejected.serverRow?.bytes),
            ] + WriteColumns.values(rejected.entry))
    }

    /// Removes a refusal; false when there is none of this id.
    func delete(id: String) throws(SyncError) -> Bool {
        try connection.run("DELETE FROM refusals WHERE id = ?", .text(id))
        return connection.changedRows > 0
    }

    func deleteAll() throws(SyncError) { try connection.run("DELETE FROM refusals") }
}
