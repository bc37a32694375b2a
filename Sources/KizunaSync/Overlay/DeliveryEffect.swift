package import KizunaCore
internal import KizunaPostgREST
package import KizunaStore

/// What a delivered write does to a cached list: the exact change where it is known, else the list is stale
/// (spec reads §9.5). Pure.
package struct DeliveryEffect: Sendable {
    /// What the server says became of the rows of a request.
    package enum Rows: Sendable {
        /// Rows after the write, by key, as the server sent them back.
        case written([RowKey: RawJSON])
        case deleted([RowKey])
        /// The server sent no rows, or rows without keys: nothing can be followed.
        case untold
    }

    private let rows: Rows
    /// Former keys of written rows that have others now.
    private let former: [RowKey]
    /// Keys a delete named without meeting their rows: a list that shows one of them may be right or not.
    private let unmet: [RowKey]
    /// Keys of rows that were to be added and were not: a list without such a row may lack the one that was there before.
    private let ignored: [RowKey]

    package init(_ rows: Rows, former: [RowKey] = [], unmet: [RowKey] = [], ignored: [RowKey] = []) {
        self.rows = rows
        self.former = former
        self.unmet = unmet
        self.ignored = ignored
    }

    /// What the server said of rows, nil where there is none of that key any more.
    package var told: [RowKey: RawJSON?] {
        switch rows {
        case .written(let rows): rows.mapValues { $0 }.merging(former.map { ($0, nil) }) { row, _ in row }
        case .deleted(let keys): Dictionary(keys.map { ($0, nil) }) { $1 }
        case .untold: [:]
        }
    }

    /// The keys whose present rows the edit has to be told.
    package var keys: [RowKey] {
        switch rows {
        case .written(let rows): Array(rows.keys) + former + ignored
        case .deleted(let keys): keys + unmet
        case .untold: []
        }
    }

    /// The change of one list, given those of its rows that carry one of `keys`.
    package func edit(of list: ListShape, present: [RowKey: RawJSON]) -> ListEdit {
        var edit = ListEdit()
        guard list.carriesKeys || keys.isEmpty else {
            edit.becomesStale = true
            return edit
        }
        switch rows {
        case .untold: edit.becomesStale = true
        case .deleted(let keys):
            edit.removed = keys.filter { present[$0] != nil }
            if list.beginsFurtherDown || !edit.removed.isEmpty && list.isLimited { edit.becomesStale = true }
        case .written(let rows):
            edit.removed = former.filter { present[$0] != nil }
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
        if unmet.contains(where: { present[$0] != nil }) || ignored.contains(where: { present[$0] == nil }) {
            edit.becomesStale = true
        }
        if !list.isFollowable, !edit.isEmpty { edit.becomesStale = true }
        return edit
    }

    private func replace(
        _ key: RowKey, _ before: RawJSON, by row: RawJSON, in list: ListShape, _ edit: inout ListEdit
    ) {
        guard list.isFollowable else {
            edit.becomesStale = true
            return
        }
        let known = list.unprojected(before)
        let isDecidedAlike = list.decidingColumns.allSatisfy { known.member($0) == row.member($0) }
        switch list.admits(row) {
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

    private func add(_ key: RowKey, _ row: RawJSON, to list: ListShape, _ edit: inout ListEdit) {
        let truth = list.admits(row)
        guard truth.isAdmitted != false else { return }
        // Where the row belongs is known only in an unordered, unlimited list that certainly admits it.
        let isWhole = list.isWhole(row)
        if truth == .unknown || list.isOrdered || list.isLimited || !list.isFollowable || !isWhole {
            edit.becomesStale = true
        }
        guard list.isFollowable, isWhole, !list.beginsFurtherDown else { return }
        edit.appended.append(.init(key: key, json: list.projected(row)))
    }
}
