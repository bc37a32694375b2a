internal import Foundation
internal import KizunaCore

/// The writes that wait for their verdict, in order of acceptance.
struct QueueTable {
    static let schema = """
        CREATE TABLE queue (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            \(WriteColumns.schema),
            attempts INTEGER NOT NULL DEFAULT 0,
            maybe_sent INTEGER NOT NULL DEFAULT 0,
            last_error TEXT
        );
        """

    /// What a write's revision grows by when it is made to do something else; new bookkeeping makes it grow by one.
    static let rewrite: Int64 = 1 << 32

    let connection: SQLiteConnection

    private static let columns = "sequence, id, attempts, maybe_sent, last_error, \(WriteColumns.names)"

    private static func entry(_ row: SQLiteStatement) throws(SyncError) -> QueuedMutation {
        try WriteColumns.entry(
            row, id: row.text(1), from: 5, sequence: row.integer(0), attempts: row.int(2), maybeSent: row.bool(3),
            lastError: row.optionalText(4))
    }

    func all() throws(SyncError) -> [QueuedMutation] {
        try connection.rows("SELECT \(Self.columns) FROM queue ORDER BY sequence", row: Self.entry)
    }

    func all(of table: TableID) throws(SyncError) -> [QueuedMutation] {
        try connection.rows(
            "SELECT \(Self.columns) FROM queue WHERE tbl = ? AND schema = ? ORDER BY sequence", .text(table.name),
            .text(table.schema)
        ) { (row) throws(SyncError) in try Self.entry(row) }
    }

    /// The ids of the waiting writes to some tables.
    func ids(where isMeant: (TableID) -> Bool) throws(SyncError) -> [String] {
        try connection.rows("SELECT id, schema, tbl FROM queue ORDER BY sequence") { (row) throws(SyncError) in
            isMeant(TableID(schema: row.text(1), name: row.text(2))) ? row.text(0) : nil
        }.compactMap { $0 }
    }

    /// Those behind a place in the queue, in order.
    func entries(after sequence: Int64) throws(SyncError) -> [QueuedMutation] {
        try connection.rows(
            "SELECT \(Self.columns) FROM queue WHERE sequence > ? ORDER BY sequence", .integer(sequence),
            row: Self.entry)
    }

    /// Each write's place, and how often it was changed since it was accepted.
    func revisions() throws(SyncError) -> [Int64: Int64] {
        let rows = try connection.rows("SELECT sequence, revision FROM queue") { (row) throws(SyncError) in
            (row.integer(0), row.integer(1))
        }
        return try StoreFault.unique(rows)
    }

    func entry(id: String) throws(SyncError) -> QueuedMutation? {
        try connection.first("SELECT \(Self.columns) FROM queue WHERE id = ?", .text(id), row: Self.entry)
    }

    /// The waiting writes that name this row and no other, in order.
    func entries(of table: TableID, key: RowKey) throws(SyncError) -> [QueuedMutation] {
        try connection.rows(
            "SELECT \(Self.columns) FROM queue WHERE schema = ? AND tbl = ? AND row_keys = ? ORDER BY sequence",
            .text(table.schema), .text(table.name), .text(WriteColumns.keyList([key])), row: Self.entry)
    }

    /// Whether everything behind a write is of its table and names its rows.
    func hasOnlyRows(of table: TableID, after sequence: Int64) throws(SyncError) -> Bool {
        try connection.first(
            """
            SELECT 1 FROM queue WHERE sequence > ? AND (schema <> ? OR tbl <> ? OR row_keys = '[]' OR grp IS NOT NULL)
            LIMIT 1
            """, .integer(sequence), .text(table.schema), .text(table.name)
        ) { (_) throws(SyncError) in true } == nil
    }

    /// The row a search finds, read on its own: its number, and the write unless that cannot be read.
    func next(_ search: RowSearch) throws(SyncError) -> (row: QueuedMutation?, number: Int64)? {
        let clause = search.clause("sequence")
        return try connection.first("SELECT \(Self.columns) FROM queue \(clause.sql)", clause.value) {
            (row) throws(SyncError) in (try? Self.entry(row), row.integer(0))
        }
    }

    /// How many rows the index of ids holds; the same as the table, unless one of them is damaged.
    func indexedCount() throws(SyncError) -> Int {
        try connection.first("SELECT count(*) FROM queue INDEXED BY sqlite_autoindex_queue_1") {
            (row) throws(SyncError) in row.int(0)
        } ?? 0
    }

    /// Rewrites what a waiting write does, in its place.
    func setOperation(_ entry: QueuedMutation) throws(SyncError) {
        guard case .insert(let row) = entry.operation else { return }
        try connection.run(
            "UPDATE queue SET body = ?, revision = revision + ? WHERE id = ?", .blob(row.bytes), .integer(Self.rewrite),
            .text(entry.id))
    }

    func count() throws(SyncError) -> Int {
        try connection.first("SELECT count(*) FROM queue") { (row) throws(SyncError) in row.int(0) } ?? 0
    }

    /// Adds an entry at the end and returns it with its sequence.
    func append(_ entry: QueuedMutation) throws(SyncError) -> QueuedMutation {
        let statement = try connection.statement(
            "INSERT INTO queue (id, \(WriteColumns.names)) VALUES (?, \(WriteColumns.marks))")
        try statement.run([.text(entry.id)] + WriteColumns.values(entry))
        var stored = entry
        stored.sequence = connection.lastInsertedRowID
        return stored
    }

    func setBookkeeping(_ entry: QueuedMutation) throws(SyncError) {
        try connection.run(
            "UPDATE queue SET attempts = ?, maybe_sent = ?, last_error = ?, revision = revision + 1 WHERE id = ?",
            .int(entry.attempts), .bool(entry.maybeSent), .optional(entry.lastError), .text(entry.id))
    }

    func delete(id: String) throws(SyncError) {
        try connection.run("DELETE FROM queue WHERE id = ?", .text(id))
    }

    func deleteAll() throws(SyncError) { try connection.run("DELETE FROM queue") }
}

/// The columns that hold what a write does; the queue and the refused list share them.
enum WriteColumns {
    static let schema = """
        schema TEXT NOT NULL,
        tbl TEXT NOT NULL,
        operation TEXT NOT NULL,
        body BLOB,
        filters TEXT,
        on_conflict TEXT,
        row_keys TEXT NOT NULL,
        minted INTEGER NOT NULL,
        grp TEXT,
        created_at REAL NOT NULL
        """
    static let names = "schema, tbl, operation, body, filters, on_conflict, row_keys, minted, grp, created_at"
    static let marks = "?, ?, ?, ?, ?, ?, ?, ?, ?, ?"
    static let count: Int = 10

    static func values(_ entry: QueuedMutation) -> [SQLiteValue] {
        var body: [UInt8]?
        var filters: String?
        var onConflict: String?
        let operation: String
        switch entry.operation {
        case .insert(let row):
            operation = "insert"
            body = row.bytes
        case .upsert(let row, let columns, let ignoresDuplicates):
            operation = ignoresDuplicates ? "upsertIgnoring" : "upsert"
            body = row.bytes
            onConflict = stringList(columns)
        case .update(let patch, let conditions):
            operation = "update"
            body = patch.bytes
            filters = FilterText.text(conditions)
        case .delete(let conditions):
            operation = "delete"
            filters = FilterText.text(conditions)
        }
        return [
            .text(entry.table.schema), .text(entry.table.name), .text(operation), .optional(body), .optional(filters),
            .optional(onConflict), .text(keyList(entry.rowKeys)), .bool(entry.hasGeneratedKey),
            .optional(entry.group), .real(entry.createdAt.timeIntervalSince1970),
        ]
    }

    /// Reads an entry whose shared columns begin at `from`.
    static func entry(
        _ row: SQLiteStatement, id: String, from: Int, sequence: Int64 = 0, attempts: Int = 0, maybeSent: Bool = false,
        lastError: String? = nil
    ) throws(SyncError) -> QueuedMutation {
        QueuedMutation(
            id: id, table: TableID(schema: row.text(from), name: row.text(from + 1)),
            operation: try operation(row, from: from),
            rowKeys: FilterText.strings(row.text(from + 6)).map { RowKey(text: $0) },
            hasGeneratedKey: row.bool(from + 7),
            group: row.optionalText(from + 8), createdAt: Date(timeIntervalSince1970: row.real(from + 9)),
            sequence: sequence, attempts: attempts, maybeSent: maybeSent, lastError: lastError)
    }

    private static func operation(_ row: SQLiteStatement, from: Int) throws(SyncError) -> QueuedMutation.Operation {
        let body = RawJSON(unchecked: row.bytes(from + 3))
        let conditions = row.optionalText(from + 4)
        let filters = FilterText.filters(conditions ?? "[]")
        let onConflict = FilterText.strings(row.optionalText(from + 5) ?? "[]")
        switch row.text(from + 2) {
        case "insert": return .insert(row: body)
        case "upsert": return .upsert(row: body, onConflict: onConflict, ignoresDuplicates: false)
        case "upsertIgnoring": return .upsert(row: body, onConflict: onConflict, ignoresDuplicates: true)
        // A write whose conditions cannot be read must never be taken for one without any.
        case "update" where FilterText.isWhole(conditions): return .update(patch: body, filters: filters)
        case "delete" where FilterText.isWhole(conditions): return .delete(filters: filters)
        default:
            throw SyncError(
                .storeCorrupt, "The queue holds a write that cannot be read; nothing was changed.",
                table: row.text(from + 1))
        }
    }

    /// Keys as the text the store keeps.
    static func keyList(_ keys: [RowKey]) -> String { stringList(keys.map(\.text)) }

    private static func stringList(_ texts: [String]) -> String {
        RawJSON(elements: texts.map { RawJSON(string: $0) }).text
    }
}
