internal import KizunaCore

/// The rows of all cached lists. A row's id is its list's id and its slot in one number, so a list is one stretch of
/// the table and a new answer is written by appending.
struct RowsTable {
    static let schema = "CREATE TABLE rows (id INTEGER PRIMARY KEY, key TEXT, body BLOB NOT NULL);"

    /// Slots of one list: 32 bits.
    static let slotsPerList: Int64 = 1 << 32

    let connection: SQLiteConnection

    static func id(list: Int64, slot: Int64) -> Int64 { list * slotsPerList + slot }

    static func row(_ row: SQLiteStatement) -> StoredRow {
        StoredRow(
            slot: row.integer(0) % slotsPerList, key: row.optionalText(1).map { RowKey(text: $0) },
            json: RawJSON(unchecked: row.bytes(2)))
    }

    /// The rows of a list in slot order.
    func all(of list: Int64) throws(SyncError) -> [StoredRow] {
        try each(of: list, Self.row)
    }

    func each<Result>(
        of list: Int64, _ body: (SQLiteStatement) throws(SyncError) -> Result
    ) throws(SyncError) -> [Result] {
        try connection.rows(
            "SELECT id, key, body FROM rows WHERE id >= ? AND id < ? ORDER BY id",
            .integer(Self.id(list: list, slot: 0)), .integer(Self.id(list: list + 1, slot: 0)), row: body)
    }

    func row(id: Int64) throws(SyncError) -> StoredRow? {
        try connection.first("SELECT id, key, body FROM rows WHERE id = ?", .integer(id), row: Self.row)
    }

    func inserter() throws(SyncError) -> SQLiteStatement {
        try connection.statement("INSERT OR REPLACE INTO rows (id, key, body) VALUES (?, ?, ?)")
    }

    func put(list: Int64, slot: Int64, key: RowKey?, json: RawJSON) throws(SyncError) {
        try connection.run(
            "INSERT OR REPLACE INTO rows (id, key, body) VALUES (?, ?, ?)", .integer(Self.id(list: list, slot: slot)),
            .optional(key?.text), .blob(json.bytes))
    }

    func delete(list: Int64, slot: Int64) throws(SyncError) {
        try connection.run("DELETE FROM rows WHERE id = ?", .integer(Self.id(list: list, slot: slot)))
    }

    func deleteAll(of list: Int64) throws(SyncError) {
        try connection.run(
            "DELETE FROM rows WHERE id >= ? AND id < ?", .integer(Self.id(list: list, slot: 0)),
            .integer(Self.id(list: list + 1, slot: 0)))
    }

    func deleteAll() throws(SyncError) { try connection.run("DELETE FROM rows") }
}
