package import KizunaCore
internal import KizunaPostgREST
package import KizunaStore

/// The rows of a live read: the cached rows with the queued mutations applied to them in queue order.
///
/// The overlay is a left fold over the queue, so the cost of a new mutation depends on the rows it changes and not on the
/// number of rows. When mutations leave the queue, the rows that they name are reset to the cached rows and the remaining
/// mutations of these rows are applied again (`redo`). Where a single row cannot be reset, the whole overlay is rebuilt
/// (`restart`, then `apply` for each mutation). See docs/spec/reads.md, Overlay.
package struct OverlayFold: Sendable {
    /// One shown row.
    package struct Row: Sendable, Equatable {
        package var key: RowKey?
        /// The row in the columns of the request.
        package var json: RawJSON
        /// All known columns of the row under the names of the table; filters are evaluated on them.
        package var known: RawJSON
        /// Whether a queued mutation added or changed this row.
        package var isPending: Bool
        /// The id of a rejected mutation that names this row.
        package var rejectedID: String?
    }

    /// The position of a row: an index into `slots` if it has a cached row, an index into `added` if a mutation made it.
    private enum Place: Sendable {
        case based(Int)
        case added(Int)
        /// The row is not shown.
        case gone
    }

    private let shape: QueryShape
    /// The cached rows.
    private var base: ShownRows
    private var baseIndex: [RowKey: Int] = [:]
    /// Whether two cached rows have the same key, so that a key does not identify a row.
    private var hasDuplicateKeys = false
    private let hasBase: Bool
    /// The rows of other cached queries, as they are stored.
    private var storedInOtherLists: [RowKey: RawJSON]
    /// The ids of rejected mutations by the keys that they name.
    private var rejected: [RowKey: String]

    // The overlay: the properties below are computed from those above and from the queue.

    /// The rows of `base` with the changes of the queue, at the same positions; nil for a removed row.
    private var slots: ShownRows
    /// Rows that mutations added, in queue order.
    private var added = ShownRows()
    /// The places of rows whose place differs from `baseIndex`.
    private var moved: [RowKey: Place] = [:]
    /// Rows of the table that this query does not show, by key: from other cached queries and from earlier mutations.
    private var rowsInOtherLists: [RowKey: RawJSON]
    /// Keys of rows that a mutation changed; keys of added and removed rows are in `moved`.
    private var changed: Set<RowKey> = []
    private var hasChangedRowsWithoutKey = false
    private var hasAddedRows = false
    /// Whether the effect of a queued mutation on the shown rows may differ from the overlay.
    package private(set) var isInexact = false

    /// Whether a queued mutation added, changed or removed a shown row.
    package var hasPendingMutations: Bool { !moved.isEmpty || !changed.isEmpty || hasChangedRowsWithoutKey }

    /// Creates an overlay without mutations.
    ///
    /// - Parameters:
    ///   - shape: The shape of the query.
    ///   - rows: The cached rows; nil if the query is not cached.
    ///   - rowsInOtherLists: Rows of the table that other cached queries hold.
    ///   - rejected: The ids of rejected mutations by the keys that they name.
    package init(
        shape: QueryShape, base rows: (some Sequence<StoredRow>)?, rowsInOtherLists: [RowKey: RawJSON] = [:],
        rejected: [RowKey: String] = [:]
    ) {
        self.shape = shape
        hasBase = rows != nil
        storedInOtherLists = rowsInOtherLists
        self.rejected = rejected
        self.rowsInOtherLists = rowsInOtherLists
        base = ShownRows()
        baseIndex.reserveCapacity(rows?.underestimatedCount ?? 0)
        if let rows {
            for row in rows { Self.add(row.json, row.key, shape, &base, &baseIndex, &hasDuplicateKeys) }
        }
        slots = base
        restart()
    }

    /// Creates an overlay of a query that is not cached.
    package init(shape: QueryShape) { self.init(shape: shape, base: [StoredRow]?.none) }

    private static func add(
        _ json: RawJSON, _ key: RowKey?, _ shape: QueryShape, _ rows: inout ShownRows, _ index: inout [RowKey: Int],
        _ hasDuplicateKeys: inout Bool
    ) {
        let at = rows.append(Row(key: key, json: json, known: shape.unprojected(json), isPending: false))
        guard let key else { return }
        if index[key] == nil { index[key] = at } else { hasDuplicateKeys = true }
    }

    /// Stores changes of rows in other cached queries.
    ///
    /// - Parameter rows: The stored rows by key; nil for a row that no other query holds any more.
    /// - Returns: The keys of the rows that changed. Mutations that name one of them must be applied again.
    package mutating func learn(_ rows: [RowKey: RawJSON?]) -> Set<RowKey> {
        var changed: Set<RowKey> = []
        for (key, row) in rows where storedInOtherLists[key] != row {
            storedInOtherLists[key] = row
            rowsInOtherLists[key] = row
            changed.insert(key)
        }
        return changed
    }

    /// The shown rows; nil if the query is not cached and no mutation added a row.
    package var rows: ShownRows? {
        guard hasBase || hasAddedRows else { return nil }
        return slots.followed(by: added)
    }

    // MARK: - Rebuilding

    /// Removes all mutations from the overlay.
    ///
    /// - Parameter rejected: The new ids of rejected mutations by key; nil keeps the present ones.
    package mutating func restart(rejected: [RowKey: String]? = nil) {
        if let rejected { self.rejected = rejected }
        slots = base
        added = ShownRows()
        moved = [:]
        rowsInOtherLists = storedInOtherLists
        changed = []
        hasChangedRowsWithoutKey = false
        hasAddedRows = false
        isInexact = false
        guard !self.rejected.isEmpty else { return }
        if hasDuplicateKeys {
            for at in 0..<slots.end {
                guard let key = slots[at]?.key, let id = self.rejected[key] else { continue }
                slots[at]?.rejectedID = id
            }
        } else {
            for (key, id) in self.rejected { if let at = baseIndex[key] { slots[at]?.rejectedID = id } }
        }
    }

    /// Changes the cached rows. Afterwards the overlay must be recomputed: with `redo` for the keys of the edit, or whole.
    package mutating func edit(_ edit: CachedQueryEdit) {
        guard hasBase else { return }
        for row in edit.replaced {
            for at in basePositions(of: row.key) {
                base[at]?.json = row.json
                base[at]?.known = shape.unprojected(row.json)
            }
        }
        for key in edit.removed {
            for at in basePositions(of: key) {
                base[at] = nil
                slots[at] = nil
            }
            baseIndex[key] = nil
        }
        for row in edit.appended {
            Self.add(row.json, row.key, shape, &base, &baseIndex, &hasDuplicateKeys)
            if let row = base[base.end - 1] { slots.append(row) }
        }
    }

    private func basePositions(of key: RowKey) -> [Int] {
        guard hasDuplicateKeys else { return baseIndex[key].map { [$0] } ?? [] }
        return (0..<base.end).filter { base[$0]?.key == key }
    }

    /// Resets the rows of these keys to the cached rows and applies their mutations again.
    ///
    /// - Parameters:
    ///   - keys: The keys of the rows.
    ///   - entries: All queued mutations that name one of the keys, in queue order.
    /// - Returns: False if the result may differ from that of a rebuild; the caller must then rebuild the overlay.
    package mutating func redo(_ keys: Set<RowKey>, with entries: [QueuedMutation]) -> Bool {
        guard hasBase, !hasDuplicateKeys, !hasChangedRowsWithoutKey, !isInexact else { return false }
        for key in keys {
            if case .added(let at)? = place(of: key) { added[at] = nil }
            moved[key] = nil
            changed.remove(key)
            rowsInOtherLists[key] = storedInOtherLists[key]
            guard let at = baseIndex[key] else { continue }
            slots[at] = base[at]
            slots[at]?.rejectedID = rejected[key]
        }
        if added.isEmpty { added = ShownRows() }
        // `added` is in queue order. The order of these mutations relative to the others is unknown here.
        let before = added.end
        for entry in entries { apply(entry) }
        return added.end == before
    }

    // MARK: - Applying a mutation

    /// Applies one queued mutation to the shown rows.
    package mutating func apply(_ entry: QueuedMutation) {
        if !shape.carriesKeys, hasBase, !base.isEmpty, !entry.rowKeys.isEmpty {
            // The cached rows have no keys, so the row of the mutation cannot be found among them.
            if case .insert = entry.operation {} else { isInexact = true }
        }
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

    /// Whether a mutation changes only the rows whose keys it names.
    package func touchesOnlyItsKeys(_ entry: QueuedMutation) -> Bool {
        guard !entry.rowKeys.isEmpty, entry.keyChange(keyColumns: shape.keyColumns) == .none else { return false }
        if case .upsert(_, let onConflict, _) = entry.operation {
            return onConflict.isEmpty || onConflict == shape.keyColumns
        }
        return true
    }

    private mutating func insert(_ row: RawJSON, key: RowKey?, ignoresDuplicates: Bool) {
        if let key, let at = place(of: key) {
            guard !ignoresDuplicates else { return }
            change(at, by: members(of: row))
            return
        }
        var whole = row
        if let key, let known = rowsInOtherLists[key] {
            guard !ignoresDuplicates else { return }
            whole = known.merging(members(of: row))
        }
        // A filter without a definite result does not hide a new row (docs/spec/reads.md, Filters on the device).
        // A page with an offset shows no new row: the row may belong to an earlier page.
        guard !shape.hasOffset, shape.matches(whole).isMatched != false else {
            if let key { rowsInOtherLists[key] = whole }
            return
        }
        append(whole, key: key)
    }

    private mutating func update(_ patch: RawJSON, where filters: [QueuedMutation.Filter], keys: [RowKey]) {
        let changes = members(of: patch)
        let condition = Condition(filters, keys: keys, shape)
        for at in matches(condition) { change(at, by: changes) }
        for key in keys.isEmpty ? rowsInOtherLists.keys.sorted() : keys {
            guard let row = rowsInOtherLists[key], place(of: key) == nil, condition.holds(for: row) else { continue }
            let before = shape.matches(row)
            let after = row.merging(changes)
            let previous = key
            let key = newKey(after, changes) ?? key
            guard key == previous || isFree(key) else { continue }
            rowsInOtherLists[previous] = nil
            rowsInOtherLists[key] = after
            guard before != .yes, shape.matches(after) == .yes, !shape.hasOffset else { continue }
            append(after, key: key)
        }
    }

    private mutating func delete(where filters: [QueuedMutation.Filter], keys: [RowKey]) {
        let condition = Condition(filters, keys: keys, shape)
        for at in matches(condition) { remove(at) }
        for key in keys.isEmpty ? Array(rowsInOtherLists.keys) : keys {
            if let row = rowsInOtherLists[key], condition.holds(for: row) { rowsInOtherLists[key] = nil }
        }
    }

    // MARK: - Rows

    private func place(of key: RowKey) -> Place? {
        switch moved.isEmpty ? nil : moved[key] {
        case .gone: nil
        case let place?: place
        case nil: baseIndex[key].map { .based($0) }
        }
    }

    private subscript(place: Place) -> Row? {
        get {
            switch place {
            case .based(let at): slots[at]
            case .added(let at): added[at]
            case .gone: nil
            }
        }
        set {
            switch place {
            case .based(let at): slots[at] = newValue
            case .added(let at): added[at] = newValue
            case .gone: preconditionFailure("OverlayFold: a removed row cannot be changed")
            }
        }
    }

    private mutating func append(_ whole: RawJSON, key: RowKey?) {
        let at = added.append(Row(key: key, json: shape.projected(whole), known: whole, isPending: true))
        if let key { moved[key] = .added(at) } else { hasChangedRowsWithoutKey = true }
        hasAddedRows = true
    }

    private mutating func change(_ at: Place, by changes: [RawJSON.Member]) {
        guard var row = self[at] else { return }
        let previous = row.key
        row.known = row.known.merging(changes)
        if let key = newKey(row.known, changes), let previous, key != previous {
            guard isFree(key) else { return }
            moved[previous] = .gone
            moved[key] = at
            rowsInOtherLists[previous] = nil
            row.key = key
        }
        row.json = shape.showsAllColumns ? row.known : shape.merged(row.json, with: changes)
        row.isPending = true
        if let key = row.key { changed.insert(key) } else { hasChangedRowsWithoutKey = true }
        self[at] = row
        let truth = shape.matches(row.known)
        if truth.isMatched == false { remove(at) }
        if truth == .unknown, changes.contains(where: { shape.decidingColumns.contains($0.name) }) { isInexact = true }
    }

    /// Whether no known row has this key. If one has it, the overlay becomes inexact: the server stores only one row with
    /// the key, and the device cannot predict which.
    private mutating func isFree(_ key: RowKey) -> Bool {
        guard place(of: key) != nil || rowsInOtherLists[key] != nil else { return true }
        isInexact = true
        return false
    }

    /// Returns the key of a row after a change; nil if the change has no key column.
    private func newKey(_ row: RawJSON, _ changes: [RawJSON.Member]) -> RowKey? {
        guard changes.contains(where: { shape.keyColumns.contains($0.name) }) else { return nil }
        return row.rowKey(columns: shape.keyColumns)
    }

    private mutating func remove(_ at: Place) {
        guard let row = self[at] else { return }
        if let key = row.key {
            moved[key] = .gone
            rowsInOtherLists[key] = row.known
        } else {
            hasChangedRowsWithoutKey = true
        }
        self[at] = nil
    }

    /// Returns the places of the shown rows that certainly match. A row that only may match makes the overlay inexact.
    private mutating func matches(_ condition: Condition) -> [Place] {
        let places =
            condition.keys.isEmpty
            ? (0..<slots.end).map { Place.based($0) } + (0..<added.end).map { Place.added($0) }
            : condition.keys.compactMap { place(of: $0) }
        var found: [Place] = []
        for at in places {
            guard let row = self[at] else { continue }
            switch condition.truth(for: row.known) {
            case .yes: found.append(at)
            case .unknown: isInexact = true
            case .no, .null: break
            }
        }
        return found
    }

    /// Returns the key of the shown row that conflicts with an upsert in columns other than the primary key.
    private func match(_ row: RawJSON, _ columns: [String]) -> RowKey? {
        let wanted = columns.map { row.member($0)?.scalarText }
        guard !wanted.contains(nil) else { return nil }
        for shown in slots.followed(by: added)
        where columns.map({ shown.known.member($0)?.scalarText }) == wanted { return shown.key }
        return nil
    }

    private func members(of row: RawJSON) -> [RawJSON.Member] { (try? row.objectMembers()) ?? [] }
}

/// The condition of an update or a delete on the rows it changes.
private struct Condition {
    let keys: [RowKey]
    /// Nil if the keys alone decide.
    private let filter: CompiledFilter?

    init(_ filters: [QueuedMutation.Filter], keys: [RowKey], _ shape: QueryShape) {
        self.keys = keys
        let expression = FilterExpression(filters: filters.items)
        let readsOnlyKeys = expression.columns.isSubset(of: shape.keyColumns) && !expression.readsUnknownColumns
        filter = !keys.isEmpty && readsOnlyKeys ? nil : expression.compiled(for: shape.types)
    }

    /// Whether a row certainly matches. If the condition has keys, the row must have one of them.
    func holds(for row: RawJSON) -> Bool { truth(for: row) == .yes }

    /// Whether a row matches; unknown if the device cannot evaluate the filter.
    func truth(for row: RawJSON) -> Truth { filter?.evaluate(RowView(row)) ?? .yes }
}
