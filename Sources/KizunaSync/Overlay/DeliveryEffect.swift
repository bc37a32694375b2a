package import KizunaCore
internal import KizunaPostgREST
package import KizunaStore

/// What a delivered write does to a cached list: the exact change where it is known, else the list is stale
/// (docs/spec/writes.md, Effect of an accepted mutation). Pure.
package struct DeliveryEffect: Sendable {
    /// What the server says became of the rows of a request.
    package enum Rows: Sendable {
        /// Rows after the write, by key, as the server sent them back.
        case written([RowKey: RawJSON])
        case deleted([RowKey])
        /// The server sent no rows, or rows without keys: nothing can be followed.
        case unknown
    }

    private let rows: Rows
    /// Former keys of written rows that have others now.
    private let previous: [RowKey]
    /// Keys a delete named without meeting their rows: a list that shows one of them may be right or not.
    private let notFound: [RowKey]
    /// Keys of rows that were to be added and were not: a list without such a row may lack the one that was there before.
    private let ignored: [RowKey]

    package init(_ rows: Rows, previous: [RowKey] = [], notFound: [RowKey] = [], ignored: [RowKey] = []) {
        self.rows = rows
        self.previous = previous
        self.notFound = notFound
        self.ignored = ignored
    }

    /// What the server said of rows, nil where there is none of that key any more.
    package var told: [RowKey: RawJSON?] {
        switch rows {
        case .written(let rows): rows.mapValues { $0 }.merging(previous.map { ($0, nil) }) { row, _ in row }
        case .deleted(let keys): Dictionary(keys.map { ($0, nil) }) { $1 }
        case .unknown: [:]
        }
    }

    /// The keys whose present rows the edit has to be told.
    package var keys: [RowKey] {
        switch rows {
        case .written(let rows): Array(rows.keys) + previous + ignored
        case .deleted(let keys): keys + notFound
        case .unknown: []
        }
    }

    /// The change of one list, given those of its rows that carry one of `keys`.
    package func edit(of list: QueryShape, present: [RowKey: RawJSON]) -> CachedQueryEdit {
        var edit = CachedQueryEdit()
        guard list.carriesKeys || keys.isEmpty else {
            edit.becomesStale = true
            return edit
        }
        switch rows {
        case .unknown: edit.becomesStale = true
        case .deleted(let keys):
            edit.removed = keys.filter { present[$0] != nil }
            if list.hasOffset || !edit.removed.isEmpty && list.isLimited { edit.becomesStale = true }
        case .written(let rows):
            edit.removed = previous.filter { present[$0] != nil }
            // The row is still in the list, and where cannot be told.
            if !edit.removed.isEmpty { edit.becomesStale = true }
            for key in rows.keys.sorted() {
                guard let row = rows[key] else { continue }
                if let before = present[key] {
                    replace(key, before, by: row, in: list, &edit)
                } else {
                    add(key, row, to: list, &edit)
                }
            }
        }
        if notFound.contains(where: { present[$0] != nil }) || ignored.contains(where: { present[$0] == nil }) {
            edit.becomesStale = true
        }
        if !list.isFollowable, !edit.isEmpty { edit.becomesStale = true }
        return edit
    }

    private func replace(
        _ key: RowKey, _ before: RawJSON, by row: RawJSON, in list: QueryShape, _ edit: inout CachedQueryEdit
    ) {
        guard list.isFollowable else {
            edit.becomesStale = true
            return
        }
        let known = list.unprojected(before)
        let isDecidedAlike = list.decidingColumns.allSatisfy { known.member($0) == row.member($0) }
        switch list.matches(row) {
        case .yes: break
        case .no, .null:
            edit.removed.append(key)
            if list.isLimited { edit.becomesStale = true }
            return
        case .unknown:
            if !isDecidedAlike { edit.becomesStale = true }
        }
        guard list.isWhole(row) else {
            // A column that a function computes did not come back: what it says now is not known.
            edit.replaced.append(.init(key: key, json: list.merged(before, with: (try? row.objectMembers()) ?? [])))
            edit.becomesStale = true
            return
        }
        edit.replaced.append(.init(key: key, json: list.projected(row)))
        // The row may have another place now.
        if !list.keepsPlace(known, row) { edit.becomesStale = true }
    }

    private func add(_ key: RowKey, _ row: RawJSON, to list: QueryShape, _ edit: inout CachedQueryEdit) {
        let truth = list.matches(row)
        guard truth.isMatched != false else { return }
        // Where the row belongs is known only in an unordered, unlimited list that certainly admits it.
        let isWhole = list.isWhole(row)
        if truth == .unknown || list.isOrdered || list.isLimited || !list.isFollowable || !isWhole {
            edit.becomesStale = true
        }
        guard list.isFollowable, isWhole, !list.hasOffset else { return }
        edit.appended.append(.init(key: key, json: list.projected(row)))
    }
}
