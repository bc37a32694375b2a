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
        CREATE TABLE aliases (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            target TEXT NOT NULL
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

    /// Notes that a write was folded into another, whose verdict is its own too.
    func alias(_ id: String, to target: String) throws(SyncError) {
        try connection.run("INSERT OR REPLACE INTO aliases (id, target) VALUES (?, ?)", .text(id), .text(target))
        try connection.run(
            "DELETE FROM aliases WHERE sequence <= (SELECT max(sequence) FROM aliases) - ?", .int(Self.kept))
    }

    func target(of id: String) throws(SyncError) -> String? {
        try connection.first("SELECT target FROM aliases WHERE id = ?", .text(id)) { (row) throws(SyncError) in
            row.text(0)
        }
    }

    func deleteAll() throws(SyncError) {
        try connection.run("DELETE FROM deliveries")
        try connection.run("DELETE FROM aliases")
    }
}
