package import KizunaCore
internal import KizunaPostgREST
package import KizunaStore

/// The rows a live read shows: the cached rows with the queued writes laid over them, one write at a time.
///
/// The overlay of a queue is a left fold, so a new write costs what it changes and not the length of the list; only a
/// write that leaves the queue makes the fold start anew from the cached rows (spec reads §9.2).
package struct ListFold: Sendable {
    /// One shown row.
    package struct Row: Sendable, Equatable {
        package var key: RowKey?
        /// The row as shown, in the request's own columns.
        package var json: RawJSON
        /// All columns known of the row; what filters are judged on.
        package var known: RawJSON
        /// Whether a queued write made or changed this row.
        package var isPending: Bool
        /// The id of a refused write that names this row and waits for a decision.
        package var refusedID: String?
    }

    private let shape: ListShape
    /// Shown rows in order; removed ones leave a hole so that positions stay valid.
    private var slots: [Row?] = []
    private var index: [RowKey: Int] = [:]
    /// Rows of the table that this list does not show, by key: from other lists and earlier queued inserts.
    private var elsewhere: [RowKey: RawJSON]
    private var hasBase: Bool
    private var admitted = false
    /// Whether a queued write added, changed or removed a row shown.
    package private(set) var hasPendingMutations = false

    /// Begins with the cached rows, nil where nothing is cached, and with full rows of the table known from other lists.
    package init(
        shape: ListShape, base: [StoredRow]?, elsewhere: [RowKey: RawJSON] = [:], refused: [RowKey: String] = [:]
    ) {
        self.shape = shape
        self.elsewhere = elsewhere
        hasBase = base != nil
        slots.reserveCapacity(base?.count ?? 0)
        index.reserveCapacity(base?.count ?? 0)
        for row in base ?? [] {
            if let key = row.key, index[key] == nil { index[key] = slots.count }
            slots.append(
                Row(
                    key: row.key, json: row.json, known: shape.unprojected(row.json), isPending: false,
                    refusedID: refused.isEmpty ? nil : row.key.flatMap { refused[$0] }))
        }
    }

    /// Takes in rows of the table that other lists hold, as far as this one does not show them.
    package mutating func learn(_ rows: [RowKey: RawJSON]) {
        for (key, row) in rows where index[key] == nil { elsewhere[key] = row }
    }

    /// The shown rows, nil while nothing is known.
    package var rows: [Row]? {
        guard hasBase || admitted else { return nil }
        return slots.compactMap { $0 }
    }

    /// Lays one queued write over what is shown.
    package mutating func apply(_ entry: QueueEntry) {
        switch entry.operation {
        case .insert(let row): insert(row, key: entry.rowKeys.first, ignoresDuplicates: false)
        case .upsert(let row, let onConflict, let ignoresDuplicates):
            let target =
                onConflict.isEmpty || onConflict == shape.keyColumns ? entry.rowKeys.first : match(row, onConflict)
            insert(row, key: target ?? entry.rowKeys.first, ignoresDuplicates: ignoresDuplicates)
        case .update(let patch, let filters): update(patch, where: filters, keys: entry.rowKeys)
        case .delete(let filters): delete(where: filters, keys: entry.rowKeys)
        }
    }

    // MARK: - The three kinds of write

    private mutating func insert(_ row: RawJSON, key: RowKey?, ignoresDuplicates: Bool) {
        if let key, let at = index[key], slots[at] != nil {
            guard !ignoresDuplicates else { return }
            change(at, by: members(of: row))
            return
        }
        var whole = row
        if let key, let known = elsewhere[key] {
            guard !ignoresDuplicates else { return }
            whole = known.merging(members(of: row))
        }
        if let key { elsewhere[key] = whole }
        // A filter that cannot be judged does not hide a row made offline (spec reads §9.1.4). A page that begins
        // further down cannot know whether the row belongs to it.
        guard !shape.beginsFurtherDown, isAdmissible(shape.admits(whole)) else { return }
        append(whole, key: key)
    }

    private mutating func update(_ patch: RawJSON, where filters: [QueueEntry.Filter], keys: [RowKey]) {
        let changes = members(of: patch)
        let condition = FilterExpression(filters: filters.map { QueryItem($0.name, $0.value) })
        for at in matches(condition, keys: keys) { change(at, by: changes) }
        for (key, row) in elsewhere where index[key] == nil && isMatch(row, key: key, condition, keys) {
            let before = shape.admits(row)
            let after = row.merging(changes)
            elsewhere[key] = after
            guard before != .yes, shape.admits(after) == .yes, !shape.beginsFurtherDown else { continue }
            append(after, key: key)
        }
    }

    private mutating func delete(where filters: [QueueEntry.Filter], keys: [RowKey]) {
        let condition = FilterExpression(filters: filters.map { QueryItem($0.name, $0.value) })
        for at in matches(condition, keys: keys) { remove(at) }
        for (key, row) in elsewhere where isMatch(row, key: key, condition, keys) { elsewhere[key] = nil }
    }

    // MARK: - Rows

    private mutating func append(_ whole: RawJSON, key: RowKey?) {
        if let key { index[key] = slots.count }
        slots.append(Row(key: key, json: shape.projected(whole), known: whole, isPending: true))
        admitted = true
        hasPendingMutations = true
    }

    private mutating func change(_ at: Int, by changes: [RawJSON.Member]) {
        guard var row = slots[at] else { return }
        row.known = row.known.merging(changes)
        row.json = shape.merged(row.json, with: changes)
        row.isPending = true
        hasPendingMutations = true
        slots[at] = row
        if !isAdmissible(shape.admits(row.known)) { remove(at) }
    }

    private mutating func remove(_ at: Int) {
        guard let row = slots[at] else { return }
        if let key = row.key {
            index[key] = nil
            elsewhere[key] = row.known
        }
        slots[at] = nil
        hasPendingMutations = true
    }

    /// Positions of shown rows a write definitely touches.
    private func matches(_ condition: FilterExpression, keys: [RowKey]) -> [Int] {
        if !keys.isEmpty, isAboutKeys(condition) {
            return keys.compactMap { index[$0] }
        }
        return slots.indices.filter { at in
            guard let row = slots[at] else { return false }
            return isMatch(row.known, key: row.key, condition, keys)
        }
    }

    private func isMatch(_ row: RawJSON, key: RowKey?, _ condition: FilterExpression, _ keys: [RowKey]) -> Bool {
        if !keys.isEmpty {
            guard let key, keys.contains(key) else { return false }
            if isAboutKeys(condition) { return true }
        }
        return condition.evaluate(RowView(row), in: shape.types) == .yes
    }

    private func isAboutKeys(_ condition: FilterExpression) -> Bool {
        condition.columns.isSubset(of: shape.keyColumns) && !condition.readsUnknownColumns
    }

    /// The key of the shown row an upsert meets by columns other than the primary key.
    private func match(_ row: RawJSON, _ columns: [String]) -> RowKey? {
        let wanted = columns.map { row.member($0)?.scalarText }
        guard !wanted.contains(nil) else { return nil }
        for case let shown? in slots where columns.map({ shown.known.member($0)?.scalarText }) == wanted {
            return shown.key
        }
        return nil
    }

    private func isAdmissible(_ truth: Truth) -> Bool { truth == .yes || truth == .unknown }

    private func members(of row: RawJSON) -> [RawJSON.Member] { (try? row.objectMembers()) ?? [] }
}
