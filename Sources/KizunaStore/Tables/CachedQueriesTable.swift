internal import Foundation
internal import KizunaCore

/// One row per cached request: everything but its rows.
struct CachedQueriesTable {
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

    private static func head(_ row: SQLiteStatement) -> CachedQueryMetadata {
        CachedQueryMetadata(
            id: row.integer(0), cacheKey: row.text(1), table: TableID(schema: row.text(2), name: row.text(3)),
            parameters: FilterText.filters(row.text(4)), fetchedAt: Date(timeIntervalSince1970: row.real(5)),
            isStale: row.bool(6), isComplete: row.bool(7), hasPlainColumns: row.bool(8))
    }

    func head(cacheKey: String) throws(SyncError) -> CachedQueryMetadata? {
        try connection.first("SELECT \(Self.columns) FROM lists WHERE cache_key = ?", .text(cacheKey)) {
            (row) throws(SyncError) in Self.head(row)
        }
    }

    func heads(of table: TableID) throws(SyncError) -> [CachedQueryMetadata] {
        try connection.rows(
            "SELECT \(Self.columns) FROM lists WHERE schema = ? AND tbl = ?", .text(table.schema), .text(table.name)
        ) { (row) throws(SyncError) in Self.head(row) }
    }

    /// The lists that are not stale and whose request may embed another table: an embed has a parenthesis.
    func freshOnesThatMayEmbed() throws(SyncError) -> [CachedQueryMetadata] {
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
        cacheKey: String, table: TableID, parameters: [QueuedMutation.Filter], hasPlainColumns: Bool, at now: Date
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

    func setFetched(
        _ id: Int64, at: Date, isComplete: Bool, bytes: Int, version: Int64, askedAt: Duration, usedBy process: Int32
    ) throws(SyncError) {
        try connection.run(
            """
            UPDATE lists SET fetched_at = ?, stale = 0, complete = ?, bytes = ?, last_used = ?, version = ?, asked_at = ?,
            used_by = ? WHERE id = ?
            """, .real(at.timeIntervalSince1970), .bool(isComplete), .int(bytes), .real(at.timeIntervalSince1970),
            .integer(version), .integer(askedAt.wholeMicroseconds), .integer(Int64(process)), .integer(id))
    }

    func setStale(_ id: Int64, version: Int64) throws(SyncError) {
        try connection.run("UPDATE lists SET stale = 1, version = ? WHERE id = ?", .integer(version), .integer(id))
    }

    /// Notes the version that last changed a list.
    func setVersion(_ id: Int64, _ version: Int64) throws(SyncError) {
        try connection.run("UPDATE lists SET version = ? WHERE id = ?", .integer(version), .integer(id))
    }

    /// Which version last changed a list, and when the answer it holds was asked for, by the machine's clock.
    func moves(of id: Int64) throws(SyncError) -> (version: Int64, askedAt: Duration) {
        try connection.first("SELECT version, asked_at FROM lists WHERE id = ?", .integer(id)) {
            (row) throws(SyncError) in (row.integer(0), .microseconds(row.integer(1)))
        } ?? (0, .zero)
    }

    /// The tables with lists that were changed after a version.
    func tables(changedAfter version: Int64) throws(SyncError) -> Set<TableID> {
        Set(
            try connection.rows("SELECT DISTINCT schema, tbl FROM lists WHERE version > ?", .integer(version)) {
                (row) throws(SyncError) in TableID(schema: row.text(0), name: row.text(1))
            })
    }

    func setUsed(_ id: Int64, at: Date, by process: Int32) throws(SyncError) {
        try connection.run(
            "UPDATE lists SET last_used = ?, used_by = ? WHERE id = ?", .real(at.timeIntervalSince1970),
            .integer(Int64(process)), .integer(id))
    }

    func usage() throws(SyncError) -> [(id: Int64, cacheKey: String, bytes: Int, usedBy: Int32)] {
        try connection.rows("SELECT id, cache_key, bytes, used_by FROM lists ORDER BY last_used DESC, id DESC") {
            (row) throws(SyncError) in
            (row.integer(0), row.text(1), row.int(2), Int32(truncatingIfNeeded: row.integer(3)))
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
    static func text(_ filters: [QueuedMutation.Filter]) -> String {
        RawJSON(elements: filters.flatMap { [RawJSON(string: $0.name), RawJSON(string: $0.value)] }).text
    }

    static func filters(_ text: String) -> [QueuedMutation.Filter] {
        let texts = strings(text)
        return stride(from: 0, to: texts.count - texts.count % 2, by: 2).map {
            QueuedMutation.Filter(name: texts[$0], value: texts[$0 + 1])
        }
    }

    /// Whether a text is a list of filters, none of which was dropped when it was read.
    static func isWhole(_ text: String?) -> Bool {
        guard let text, let elements = try? RawJSON(validating: Array(text.utf8)).arrayElements() else { return false }
        return elements.count % 2 == 0 && elements.allSatisfy { $0.stringValue != nil }
    }

    static func strings(_ text: String) -> [String] {
        let elements = (try? RawJSON(unchecked: Array(text.utf8)).arrayElements()) ?? []
        return elements.compactMap(\.stringValue)
    }
}
