internal import Foundation
internal import KizunaCore

/// One row per cached request: everything but its rows.
struct ListsTable {
    static let schema = """
        CREATE TABLE lists (
            id INTEGER PRIMARY KEY,
            cache_key TEXT NOT NULL UNIQUE,
            schema TEXT NOT NULL,
            tbl TEXT NOT NULL,
            parameters TEXT NOT NULL,
            fetched_at REAL NOT NULL,
            stale INTEGER NOT NULL,
            complete INTEGER NOT NULL,
            plain INTEGER NOT NULL,
            next_slot INTEGER NOT NULL,
            slot_order BLOB,
            bytes INTEGER NOT NULL,
            last_used REAL NOT NULL
        );
        CREATE INDEX lists_by_table ON lists (schema, tbl);
        """

    let connection: SQLiteConnection

    private static let columns = "id, cache_key, schema, tbl, parameters, fetched_at, stale, complete, plain"

    private static func head(_ row: SQLiteStatement) -> ListHead {
        ListHead(
            id: row.integer(0), cacheKey: row.text(1), table: TableID(schema: row.text(2), name: row.text(3)),
            parameters: FilterText.filters(row.text(4)), fetchedAt: Date(timeIntervalSince1970: row.real(5)),
            isStale: row.bool(6), isComplete: row.bool(7), hasPlainColumns: row.bool(8))
    }

    func head(cacheKey: String) throws(SyncError) -> ListHead? {
        try connection.first("SELECT \(Self.columns) FROM lists WHERE cache_key = ?", .text(cacheKey)) {
            (row) throws(SyncError) in Self.head(row)
        }
    }

    func heads(of table: TableID) throws(SyncError) -> [ListHead] {
        try connection.rows(
            "SELECT \(Self.columns) FROM lists WHERE schema = ? AND tbl = ?", .text(table.schema), .text(table.name)
        ) { (row) throws(SyncError) in Self.head(row) }
    }

    /// The lists that are not stale and whose request may embed another table: an embed has a parenthesis.
    func freshOnesThatMayEmbed() throws(SyncError) -> [ListHead] {
        try connection.rows(
            "SELECT \(Self.columns) FROM lists WHERE stale = 0 AND instr(parameters, '(') > 0 ORDER BY id"
        ) { (row) throws(SyncError) in Self.head(row) }
    }

    /// Where the list's rows stand: the next free slot, and the order of the slots where it is not ascending.
    func layout(of id: Int64) throws(SyncError) -> (nextSlot: Int64, order: [Int64]?) {
        try connection.first("SELECT next_slot, slot_order FROM lists WHERE id = ?", .integer(id)) {
            (row) throws(SyncError) in (row.integer(0), row.optionalBytes(1).map(SlotOrder.slots))
        } ?? (0, nil)
    }

    func setLayout(of id: Int64, nextSlot: Int64, order: [Int64]?) throws(SyncError) {
        try connection.run(
            "UPDATE lists SET next_slot = ?, slot_order = ? WHERE id = ?", .integer(nextSlot),
            .optional(order.map(SlotOrder.bytes)), .integer(id))
    }

    func insert(
        cacheKey: String, table: TableID, parameters: [QueueEntry.Filter], hasPlainColumns: Bool, at now: Date
    ) throws(SyncError) -> Int64 {
        try connection.run(
            """
            INSERT INTO lists
            (cache_key, schema, tbl, parameters, fetched_at, stale, complete, plain, next_slot, bytes, last_used)
            VALUES (?, ?, ?, ?, ?, 1, 0, ?, 0, 0, ?)
            """, .text(cacheKey), .text(table.schema), .text(table.name), .text(FilterText.text(parameters)),
            .real(now.timeIntervalSince1970), .bool(hasPlainColumns), .real(now.timeIntervalSince1970))
        return connection.lastInsertedRowID
    }

    func setFetched(_ id: Int64, at: Date, isComplete: Bool, bytes: Int) throws(SyncError) {
        try connection.run(
            "UPDATE lists SET fetched_at = ?, stale = 0, complete = ?, bytes = ?, last_used = ? WHERE id = ?",
            .real(at.timeIntervalSince1970), .bool(isComplete), .int(bytes), .real(at.timeIntervalSince1970),
            .integer(id))
    }

    func setStale(_ id: Int64) throws(SyncError) {
        try connection.run("UPDATE lists SET stale = 1 WHERE id = ?", .integer(id))
    }

    func setUsed(_ id: Int64, at: Date) throws(SyncError) {
        try connection.run("UPDATE lists SET last_used = ? WHERE id = ?", .real(at.timeIntervalSince1970), .integer(id))
    }

    func usage() throws(SyncError) -> [(id: Int64, cacheKey: String, bytes: Int)] {
        try connection.rows("SELECT id, cache_key, bytes FROM lists ORDER BY last_used DESC, id DESC") {
            (row) throws(SyncError) in (row.integer(0), row.text(1), row.int(2))
        }
    }

    func delete(_ id: Int64) throws(SyncError) {
        try connection.run("DELETE FROM lists WHERE id = ?", .integer(id))
    }

    func deleteAll() throws(SyncError) { try connection.run("DELETE FROM lists") }
}

/// The order of a list's slots as bytes: each slot as four little-endian bytes.
enum SlotOrder {
    static func bytes(_ slots: [Int64]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(slots.count * 4)
        for slot in slots {
            for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: slot >> shift)) }
        }
        return bytes
    }

    static func slots(_ bytes: [UInt8]) -> [Int64] {
        stride(from: 0, to: bytes.count - bytes.count % 4, by: 4).map { at in
            (0..<4).reduce(Int64(0)) { $0 | Int64(bytes[at + $1]) << (8 * $1) }
        }
    }

    /// Nil when the slots ascend, since then the table's own order serves.
    static func stored(_ slots: [Int64]) -> [Int64]? {
        zip(slots, slots.dropFirst()).allSatisfy { $0 < $1 } ? nil : slots
    }
}

/// Filters as the text the store keeps: a JSON array of name, value, name, value …
enum FilterText {
    static func text(_ filters: [QueueEntry.Filter]) -> String {
        RawJSON(elements: filters.flatMap { [RawJSON(string: $0.name), RawJSON(string: $0.value)] }).text
    }

    static func filters(_ text: String) -> [QueueEntry.Filter] {
        let texts = strings(text)
        return stride(from: 0, to: texts.count - texts.count % 2, by: 2).map {
            QueueEntry.Filter(name: texts[$0], value: texts[$0 + 1])
        }
    }

    static func strings(_ text: String) -> [String] {
        let elements = (try? RawJSON(unchecked: Array(text.utf8)).arrayElements()) ?? []
        return elements.compactMap(\.stringValue)
    }
}
