internal import KizunaCore

/// What the server sent back for the last accepted writes, so that a receipt looked up after a restart still has its
/// verdict.
struct DeliveriesTable {
    static let schema = """
        CREATE TABLE deliveries (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            rows BLOB NOT NULL
        );
        """

    /// How many are kept; older ones are known to be accepted no more.
    static let kept = 2_000
    /// Rows of more bytes are not kept; the receipt then has no rows.
    static let bytesKept = 65_536

    let connection: SQLiteConnection

    func insert(id: String, rows: RawJSON) throws(SyncError) {
        let body = rows.bytes.count <= Self.bytesKept ? rows.bytes : Array("[]".utf8)
        try connection.run(
            "INSERT OR REPLACE INTO deliveries (id, rows) VALUES (?, ?)", .text(id), .blob(body))
    }

    func prune() throws(SyncError) {
        try connection.run(
            "DELETE FROM deliveries WHERE sequence <= (SELECT max(sequence) FROM deliveries) - ?", .int(Self.kept))
    }

    func rows(id: String) throws(SyncError) -> RawJSON? {
        try connection.first("SELECT rows FROM deliveries WHERE id = ?", .text(id)) { (row) throws(SyncError) in
            RawJSON(unchecked: row.bytes(0))
        }
    }

    /// Keeps that the writes were accepted, and forgets the rows.
    func forgetRows() throws(SyncError) { try connection.run("UPDATE deliveries SET rows = '[]'") }

    func deleteAll() throws(SyncError) { try connection.run("DELETE FROM deliveries") }
}
