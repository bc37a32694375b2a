package import KizunaCore
internal import KizunaPostgREST
package import KizunaStore

/// The effect of an accepted mutation on a cached query: the exact edit where it can be computed, otherwise the query
/// becomes stale. See docs/spec/writes.md, Effect of an accepted mutation. Pure.
package struct DeliveryEffect: Sendable {
    /// The rows of a request after the server executed it.
    package enum Rows: Sendable {
        /// The rows after the mutation, by key, as the response contains them.
        case written([RowKey: RawJSON])
        case deleted([RowKey])
        /// The response has no rows, or rows without keys.
        case unknown
    }

    private let rows: Rows
    /// Previous keys of rows whose key the mutation changed.
    private let previous: [RowKey]
    /// Keys of a delete for which the response has no row. A query that contains such a row may be out of date.
    private let notFound: [RowKey]
    /// Keys of rows that an upsert ignored because the server has a row with this key. A query without that row may be
    /// out of date.
    private let ignored: [RowKey]

    package init(_ rows: Rows, previous: [RowKey] = [], notFound: [RowKey] = [], ignored: [RowKey] = []) {
        self.rows = rows
        self.previous = previous
        self.notFound = notFound
        self.ignored = ignored
    }

    /// The rows of the response by key; nil for a key that no row has any more.
    package var told: [RowKey: RawJSON?] {
        switch rows {
        case .written(let rows): rows.mapValues { $0 }.merging(previous.map { ($0, nil) }) { row, _ in row }
        case .deleted(let keys): Dictionary(keys.map { ($0, nil) }) { $1 }
        case .unknown: [:]
        }
    }

    /// The keys of the rows that `edit(of:present:)` needs.
    package var keys: [RowKey] {
        switch rows {
        case .written(let rows): Array(rows.keys) + previous + ignored
        case .deleted(let keys): keys + notFound
        case .unknown: []
        }
    }

    /// Returns the edit of one cached query; `present` are the rows of the query whose key is one of `keys`.
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
            // A row with a new key may stay in the query; its position is unknown.
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
        let keepsDecidingColumns = list.decidingColumns.allSatisfy { known.member($0) == row.member($0) }
        switch list.matches(row) {
        case .yes: break
        case .no, .null:
            edit.removed.append(key)
            if list.isLimited { edit.becomesStale = true }
            return
        case .unknown:
            if !keepsDecidingColumns { edit.becomesStale = true }
        }
        guard list.isWhole(row) else {
            // The response lacks a computed column, so its new value is unknown.
            edit.replaced.append(.init(key: key, json: list.merged(before, with: (try? row.objectMembers()) ?? [])))
            edit.becomesStale = true
            return
        }
        edit.replaced.append(.init(key: key, json: list.projected(row)))
        // The position of the row may have changed.
        if !list.keepsPlace(known, row) { edit.becomesStale = true }
    }

    private func add(_ key: RowKey, _ row: RawJSON, to list: QueryShape, _ edit: inout CachedQueryEdit) {
        let truth = list.matches(row)
        guard truth.isMatched != false else { return }
        // The position of the row is known only if the query has no order and no limit and certainly matches the row.
        let isWhole = list.isWhole(row)
        if truth == .unknown || list.isOrdered || list.isLimited || !list.isFollowable || !isWhole {
            edit.becomesStale = true
        }
        guard list.isFollowable, isWhole, !list.hasOffset else { return }
        edit.appended.append(.init(key: key, json: list.projected(row)))
    }
}
