package import KizunaCore
internal import KizunaPostgREST
package import KizunaStore

/// The rows a live read shows: the cached rows with the queued writes laid over them, one write at a time.
///
/// The overlay of a queue is a left fold, so a new write costs what it changes and not the length of the list. When
/// writes leave the queue, the rows they named are taken back to the cached ones and the writes that remain for them are
/// laid over again; where that cannot be told row by row, all that remain are (docs/spec/reads.md, Overlay).
package struct OverlayFold: Sendable {
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
        package var rejectedID: String?
    }

    /// Where a row stands: among those that have a cached row under them, or behind, among those only writes made.
    private enum Place: Sendable {
        case based(Int)
        case added(Int)
        /// Not shown any more.
        case gone
    }

    private let shape: QueryShape
    /// The cached rows.
    private var base: ShownRows
    private var baseIndex: [RowKey: Int] = [:]
    /// Whether two cached rows have one key, so that a key does not tell a row.
    private var hasDuplicateKeys = false
    private let hasBase: Bool
    /// What other lists and refused writes say of the table's rows.
    private var schema: Facts

    private struct Facts: Sendable {
        var rowsInOtherLists: [RowKey: RawJSON]
        var rejected: [RowKey: String]
    }

    // The overlay: everything below is made anew from the above and the queue.

    /// Row by row over `base`; removed ones are holes.
    private var slots: ShownRows
    /// Rows only writes made, in queue order.
    private var added = ShownRows()
    /// Places that differ from `baseIndex`.
    private var moved: [RowKey: Place] = [:]
    /// Rows of the table that this list does not show, by key: from other lists and earlier queued inserts.
    private var rowsInOtherLists: [RowKey: RawJSON]
    /// Keys of rows that a queued write changed; those it added or removed are in `moved`.
    private var changed: Set<RowKey> = []
    private var hasTouchedKeyless = false
    private var admitted = false
    /// Whether a queued write may have done something else to the rows shown than was laid over them.
    package private(set) var isInexact = false

    /// Whether a queued write added, changed or removed a row shown.
    package var hasPendingMutations: Bool { !moved.isEmpty || !changed.isEmpty || hasTouchedKeyless }

    /// Begins with the cached rows, nil where nothing is cached, and with full rows of the table known from other lists.
    package init(
        shape: QueryShape, base rows: (some Sequence<StoredRow>)?, rowsInOtherLists: [RowKey: RawJSON] = [:],
        rejected: [RowKey: String] = [:]
    ) {
        self.shape = shape
        hasBase = rows != nil
        schema = Facts(rowsInOtherLists: rowsInOtherLists, rejected: rejected)
        self.rowsInOtherLists = rowsInOtherLists
        base = ShownRows()
        baseIndex.reserveCapacity(rows?.underestimatedCount ?? 0)
        if let rows {
            for row in rows { Self.add(row.json, row.key, shape, &base, &baseIndex, &hasDuplicateKeys) }
        }
        slots = base
        restart()
    }

    /// Begins with nothing known.
    package init(shape: QueryShape) { self.init(shape: shape, base: [StoredRow]?.none) }

    private static func add(
        _ json: RawJSON, _ key: RowKey?, _ shape: QueryShape, _ rows: inout ShownRows, _ index: inout [RowKey: Int],
        _ hasDuplicateKeys: inout Bool
    ) {
        let at = rows.append(Row(key: key, json: json, known: shape.unprojected(json), isPending: false))
        guard let key else { return }
        if index[key] == nil { index[key] = at } else { hasDuplicateKeys = true }
    }

    /// Takes in rows of the table that other lists hold, as they are stored, nil for one that is no more; returns the keys of
    /// those that are news. Writes of such a row that are laid over already know nothing of it: then start anew.
    package mutating func learn(_ rows: [RowKey: RawJSON?]) -> Set<RowKey> {
        var news: Set<RowKey> = []
        for (key, row) in rows where schema.rowsInOtherLists[key] != row {
            schema.rowsInOtherLists[key] = row
            rowsInOtherLists[key] = row
            news.insert(key)
        }
        return news
    }

    /// The shown rows, nil while nothing is known.
    package var rows: ShownRows? {
        guard hasBase || admitted else { return nil }
        return slots.followed(by: added)
    }

    // MARK: - Starting anew

    /// Takes all queued writes off; `rejected` are the rows that refused writes name from now on.
    package mutating func restart(rejected: [RowKey: String]? = nil) {
        if let rejected { schema.rejected = rejected }
        slots = base
        added = ShownRows()
        moved = [:]
        rowsInOtherLists = schema.rowsInOtherLists
        changed = []
        hasTouchedKeyless = false
        admitted = false
        isInexact = false
        guard !schema.rejected.isEmpty else { return }
        if hasDuplicateKeys {
            for at in 0..<slots.end {
                guard let key = slots[at]?.key, let id = schema.rejected[key] else { continue }
                slots[at]?.rejectedID = id
            }
        } else {
            for (key, id) in schema.rejected { if let at = baseIndex[key] { slots[at]?.rejectedID = id } }
        }
    }

    /// Changes the cached rows. The overlay has to be redone for the keys of the edit, or started anew.
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

    /// Takes the rows of these keys back to the cached ones, and lays the writes that remain for them over again. False
    /// when that does not give what starting anew would; then start anew.
    package mutating func redo(_ keys: Set<RowKey>, with entries: [QueuedMutation]) -> Bool {
        guard hasBase, !hasDuplicateKeys, !hasTouchedKeyless, !isInexact else { return false }
        for key in keys {
            if case .added(let at)? = place(of: key) { added[at] = nil }
            moved[key] = nil
            changed.remove(key)
            rowsInOtherLists[key] = schema.rowsInOtherLists[key]
            guard let at = baseIndex[key] else { continue }
            slots[at] = base[at]
            slots[at]?.rejectedID = schema.rejected[key]
        }
        if added.isEmpty { added = ShownRows() }
        // A row that only writes made has its place by queue order, which is not known here.
        let before = added.end
        for entry in entries { apply(entry) }
        return added.end == before
    }

    // MARK: - Laying a write over

    /// Lays one queued write over what is shown.
    package mutating func apply(_ entry: QueuedMutation) {
        if !shape.carriesKeys, hasBase, !base.isEmpty, !entry.rowKeys.isEmpty {
            // Whether the row is among those that were asked for without their keys, and which it is, cannot be told.
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

    /// Whether a write touches no rows but those whose keys it names.
    package func isAboutItsKeys(_ entry: QueuedMutation) -> Bool {
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
        // A filter that cannot be judged does not hide a row made offline (docs/spec/reads.md, Filters on the device).
        // A page that begins further down cannot know whether the row belongs to it.
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
            case .gone: preconditionFailure("ListFold: a row that is gone was changed")
            }
        }
    }

    private mutating func append(_ whole: RawJSON, key: RowKey?) {
        let at = added.append(Row(key: key, json: shape.projected(whole), known: whole, isPending: true))
        if let key { moved[key] = .added(at) } else { hasTouchedKeyless = true }
        admitted = true
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
        if let key = row.key { changed.insert(key) } else { hasTouchedKeyless = true }
        self[at] = row
        let truth = shape.matches(row.known)
        if truth.isMatched == false { remove(at) }
        if truth == .unknown, changes.contains(where: { shape.decidingColumns.contains($0.name) }) { isInexact = true }
    }

    /// Whether no row of this key is known: the server will not have two, and which of them gives way cannot be told here.
    private mutating func isFree(_ key: RowKey) -> Bool {
        guard place(of: key) != nil || rowsInOtherLists[key] != nil else { return true }
        isInexact = true
        return false
    }

    /// The key of a row after a change, where the change names a column of it.
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
            hasTouchedKeyless = true
        }
        self[at] = nil
    }

    /// Places of shown rows a write definitely touches. One that it may touch besides shows what it may not have any more.
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

    /// The key of the shown row an upsert meets by columns other than the primary key.
    private func match(_ row: RawJSON, _ columns: [String]) -> RowKey? {
        let wanted = columns.map { row.member($0)?.scalarText }
        guard !wanted.contains(nil) else { return nil }
        for shown in slots.followed(by: added)
        where columns.map({ shown.known.member($0)?.scalarText }) == wanted { return shown.key }
        return nil
    }

    private func members(of row: RawJSON) -> [RawJSON.Member] { (try? row.objectMembers()) ?? [] }
}

/// What a write asks of the rows it touches.
private struct Condition {
    let keys: [RowKey]
    /// Nil where the keys alone tell.
    private let filter: CompiledFilter?

    init(_ filters: [QueuedMutation.Filter], keys: [RowKey], _ shape: QueryShape) {
        self.keys = keys
        let expression = FilterExpression(filters: filters.items)
        let isAboutKeys = expression.columns.isSubset(of: shape.keyColumns) && !expression.readsUnknownColumns
        filter = !keys.isEmpty && isAboutKeys ? nil : expression.compiled(for: shape.types)
    }

    /// Whether the write definitely touches a row; for one that names keys, a row that carries one of them.
    func holds(for row: RawJSON) -> Bool { truth(for: row) == .yes }

    /// Whether the write touches a row, as far as that can be told here.
    func truth(for row: RawJSON) -> Truth { filter?.evaluate(RowView(row)) ?? .yes }
}
