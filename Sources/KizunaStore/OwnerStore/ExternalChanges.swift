internal import Foundation
internal import KizunaCore

/// What a vault knows of its file, by which it sees what other processes changed.
struct ExternalChanges {
    /// A waiting write as it was last told.
    struct Known {
        let id: String
        let table: TableID
        var revision: Int64
    }

    /// SQLite's number of the state that was last looked at.
    var dataVersion: Int64
    var shared: SharedTable.Row
    /// The waiting writes by their places.
    private(set) var queue: [Int64: Known] = [:]
    private var places: [String: Int64] = [:]
    private(set) var lastSequence: Int64 = 0
    /// When each refused write was refused.
    private(set) var rejected: [String: Date] = [:]
    /// Whether the present transaction has moved the version.
    var isMoved = false
    /// Whether it was last told that another process sends the queue.
    var isLeaseHeldByOther = false

    /// Reads everything; call it within a transaction, so that it is of one moment.
    init(_ connection: SQLiteConnection) throws(SyncError) {
        dataVersion = try connection.dataVersion()
        shared = try SharedTable(connection: connection).row()
        let queue = QueueTable(connection: connection)
        let revisions = try queue.revisions()
        for entry in try queue.all() { add(entry, revision: revisions[entry.sequence] ?? 0) }
        for rejection in try RejectionsTable(connection: connection).all() { add(rejection) }
    }

    /// The pending mutations in queue order.
    var waiting: [(id: String, table: TableID)] {
        queue.sorted { $0.key < $1.key }.map { ($0.value.id, $0.value.table) }
    }

    func place(of id: String) -> Int64? { places[id] }

    mutating func add(_ entry: QueuedMutation, revision: Int64 = 0) {
        queue[entry.sequence] = Known(id: entry.id, table: entry.table, revision: revision)
        places[entry.id] = entry.sequence
        lastSequence = max(lastSequence, entry.sequence)
    }

    mutating func add(_ rejection: RejectedEntry) { rejected[rejection.entry.id] = rejection.rejectedAt }

    mutating func removeRejection(_ id: String) { rejected[id] = nil }

    mutating func setRevision(_ revision: Int64, at place: Int64) { queue[place]?.revision = revision }

    mutating func remove(at place: Int64) {
        guard let known = queue.removeValue(forKey: place) else { return }
        if places[known.id] == place { places[known.id] = nil }
    }

    private mutating func raiseRevision(of entry: QueuedMutation, by step: Int64) {
        guard let place = places[entry.id], let known = queue[place] else { return }
        setRevision(known.revision + step, at: place)
    }

    /// Takes over what this process has committed itself.
    mutating func follow(_ change: StoreChange) {
        for entry in change.queued { add(entry) }
        for entry in change.updated { raiseRevision(of: entry, by: 1) }
        for entry in change.rewritten { raiseRevision(of: entry, by: QueueTable.rewrite) }
        for entry in change.ended { if let place = places[entry.id] { remove(at: place) } }
        for id in change.unrejected { removeRejection(id) }
        for rejection in change.rejected { add(rejection) }
    }
}

extension Int64 {
    /// How often a write of this revision was made to do something else.
    var rewrites: Int64 { self / QueueTable.rewrite }
}
