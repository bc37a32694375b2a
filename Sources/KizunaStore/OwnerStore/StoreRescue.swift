internal import Foundation
internal import KizunaCore

/// What became of the writes in a vault file that was found damaged.
package struct StoreDamage: Sendable, Equatable {
    /// Where the damaged file was moved.
    package let path: String
    /// Waiting writes that were read out of it and wait on.
    package let savedWrites: Int
    /// Refused writes that were read out of it.
    package let savedRejections: Int
    /// Whether those are proved to be all that it held.
    package let isWhole: Bool
}

/// What can still be read of the writes in a damaged file: row by row, so that a broken page costs the rows on it alone.
struct StoreRescue {
    private(set) var entries: [QueuedMutation] = []
    private(set) var rejections: [RejectedEntry] = []
    private(set) var owner: String?
    /// Whether nothing stood in the way.
    private(set) var isWhole = true

    /// Most row numbers that are tried one by one between two broken places.
    private static let longestGap: Int64 = 200_000

    /// Reads a file as it is.
    init(path: String, busyTimeout: Duration) {
        guard let connection = try? SQLiteConnection(path: path, busyTimeout: busyTimeout, mayCreate: false) else {
            isWhole = false
            return
        }
        defer { connection.close() }
        owner = (try? MetaTable(connection: connection).value("owner")) ?? nil
        let queue = QueueTable(connection: connection)
        let rejected = RejectionsTable(connection: connection)
        entries = walk { (at) throws(SyncError) in try queue.next(at) }
        rejections = walk { (at) throws(SyncError) in try rejected.next(at) }
        // The index knows how many there are even where a page of the table has lost them.
        if (try? queue.indexedCount()) != entries.count { isWhole = false }
        entries = sound(entries) { $0 }
        rejections = sound(rejections) { $0.entry }
    }

    /// All rows of a table that can be read, in order: from the beginning and from the end as far as it goes, and each
    /// number between the two on its own.
    private mutating func walk<Row>(_ next: (RowSearch) throws(SyncError) -> (row: Row?, number: Int64)?) -> [Row] {
        var ahead: [Row] = []
        var low = Int64.min
        while true {
            do throws(SyncError) {
                guard let found = try next(.above(low)) else { return ahead }
                if let row = found.row { ahead.append(row) } else { isWhole = false }
                // On a broken page numbers may stand twice, or not ascend.
                guard found.number > low else {
                    isWhole = false
                    break
                }
                low = found.number
            } catch {
                isWhole = false
                break
            }
        }
        var behind: [Row] = []
        var high = Int64.max
        while let found = try? next(.below(high)), found.number > low, found.number < high {
            if let row = found.row { behind.append(row) }
            high = found.number
        }
        var between: [Row] = []
        var number = max(low, 0)
        if high != .max || low != .min {
            let reach = number > .max - Self.longestGap ? .max : number + Self.longestGap
            let last = high == .max ? reach : min(high - 1, reach)
            while number < last {
                number += 1
                if let found = try? next(.at(number)), let row = found.row { between.append(row) }
            }
        }
        return ahead + between + behind.reversed()
    }

    /// Those that say a write: what a broken page left may be anything.
    private mutating func sound<Row>(_ rows: [Row], _ entry: (Row) -> QueuedMutation) -> [Row] {
        var ids: Set<String> = []
        let sound = rows.filter { row in
            entry(row).isSound && ids.insert(entry(row).id).inserted
        }
        if sound.count != rows.count { isWhole = false }
        return sound
    }

    /// Writes what was saved into a new file.
    func write(to path: String) throws(SyncError) {
        for suffix in ["", "-journal"] where FileManager.default.fileExists(atPath: path + suffix) {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
            throw SyncError(
                .storeCorrupt,
                "The store file is damaged, and what it still holds cannot be saved; nothing was changed.")
        }
        let connection = try SQLiteConnection(path: path, busyTimeout: .zero)
        defer { connection.close() }
        try connection.execute("PRAGMA synchronous = FULL")
        try StoreSchema.migrate(connection)
        try connection.transaction { () throws(SyncError) in
            if let owner { try MetaTable(connection: connection).set("owner", to: owner) }
            let queue = QueueTable(connection: connection)
            for var entry in entries {
                // A note of a send may be among what was lost. A write that may be sent again is then better checked.
                if entry.isCheckable { entry.maybeSent = true }
                _ = try queue.append(entry)
                try queue.setBookkeeping(entry)
            }
            for rejection in rejections { try RejectionsTable(connection: connection).insert(rejection) }
        }
    }
}

/// Which row of a table is looked for, by its number.
enum RowSearch {
    case above(Int64)
    case below(Int64)
    case at(Int64)

    /// The end of a statement that selects by a column.
    func clause(_ column: String) -> (sql: String, value: SQLiteValue) {
        switch self {
        case .above(let number): ("WHERE \(column) > ? ORDER BY \(column) LIMIT 1", .integer(number))
        case .below(let number): ("WHERE \(column) < ? ORDER BY \(column) DESC LIMIT 1", .integer(number))
        case .at(let number): ("WHERE \(column) = ?", .integer(number))
        }
    }
}

extension QueuedMutation {
    /// Whether what was read out of a damaged file is a write at all.
    fileprivate var isSound: Bool {
        guard !id.isEmpty, !table.name.isEmpty, !table.schema.isEmpty, createdAt.timeIntervalSince1970.isFinite else {
            return false
        }
        switch operation {
        case .insert(let row), .upsert(let row, _, _): return row.isSoundObject
        // A write that has lost its conditions would touch every row.
        case .update(let patch, let filters): return patch.isSoundObject && !(filters.isEmpty && !rowKeys.isEmpty)
        case .delete(let filters): return !(filters.isEmpty && !rowKeys.isEmpty)
        }
    }

    /// Whether sending it once more does no harm, or shows by a duplicate that it was sent before.
    fileprivate var isCheckable: Bool {
        switch operation {
        case .insert: !rowKeys.isEmpty
        case .upsert(_, let onConflict, _): !rowKeys.isEmpty || !onConflict.isEmpty
        case .update, .delete: true
        }
    }
}

extension RawJSON {
    fileprivate var isSoundObject: Bool { (try? RawJSON(validating: bytes))?.kind == .object }
}
