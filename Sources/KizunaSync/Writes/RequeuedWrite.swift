package import KizunaCore
internal import KizunaPostgREST
package import KizunaStore

extension QueuedMutation {
    /// The entry as it is queued again: never sent, of the same group, with the columns of a patch laid over its own.
    package func edited(by patch: RawJSON?, keyColumns: [String]) throws(SyncError) -> QueuedMutation {
        var operation = operation
        var keys = rowKeys
        var isGenerated = hasGeneratedKey
        if let patch {
            let changes = (try? patch.objectMembers()) ?? []
            switch operation {
            case .insert(let row):
                operation = .insert(row: row.merging(changes))
                keys = row.merging(changes).rowKey(columns: keyColumns).map { [$0] } ?? []
            case .upsert(let row, let onConflict, let ignores):
                operation = .upsert(row: row.merging(changes), onConflict: onConflict, ignoresDuplicates: ignores)
                keys = row.merging(changes).rowKey(columns: keyColumns).map { [$0] } ?? []
            case .update(let old, let filters): operation = .update(patch: old.merging(changes), filters: filters)
            case .delete:
                throw SyncError(.notQueueable, "A delete has no columns to change.", table: table.name)
            }
            isGenerated = isGenerated && keys == rowKeys
        }
        return QueuedMutation(
            id: id, table: table, operation: operation, rowKeys: keys, hasGeneratedKey: isGenerated, group: group,
            createdAt: createdAt)
    }
}

/// That an edit gave the row of a refused write another primary key.
package struct KeyMove: Sendable {
    fileprivate let table: TableID
    fileprivate let old: RowKey
    /// Where the row is now, and the values of its key's columns; nil where that is not known.
    fileprivate let new: (key: RowKey, values: [RawJSON])?

    /// Nil where the row has the key it had.
    package init?(of rejected: QueuedMutation, to edited: QueuedMutation, keyColumns: [String]) {
        guard let before = rejected.rowAfter(keyColumns) else { return nil }
        let after = edited.rowAfter(keyColumns)
        guard after?.key != before.key else { return nil }
        table = rejected.table
        old = before.key
        new = after
    }
}

extension QueuedMutation {
    /// The key of the one row a write makes or changes, as it is afterwards, and the values of its columns.
    fileprivate func rowAfter(_ keyColumns: [String]) -> (key: RowKey, values: [RawJSON])? {
        keyValues(keyColumns).map { (RowKey(components: $0.compactMap(\.scalarText)), $0) }
    }

    /// A parked write as it is queued again after the one it was parked with; nil where it would reach a row that is not the
    /// app's, since it names the former key in a way that cannot be changed.
    package func requeued(after move: KeyMove?, _ schema: TableSchema) -> QueuedMutation? {
        var (operation, keys) = (operation, rowKeys)
        if let move {
            let isOfRow = table == move.table && rowKeys.contains(move.old)
            if isOfRow {
                guard let new = move.new, rowKeys == [move.old] else { return nil }
                keys = [new.key]
            }
            switch operation {
            case .insert(let row):
                guard !isOfRow, let row = row.following(move, schema) else { return nil }
                operation = .insert(row: row)
            case .upsert(let row, let onConflict, let ignores):
                guard !isOfRow, let row = row.following(move, schema) else { return nil }
                operation = .upsert(row: row, onConflict: onConflict, ignoresDuplicates: ignores)
            case .update(let patch, let filters):
                guard let filters = isOfRow ? filters.following(move, schema.keyColumns) : filters,
                    let patch = patch.following(move, schema, isOfRow: isOfRow)
                else { return nil }
                operation = .update(patch: patch, filters: filters)
            case .delete(let filters):
                guard let filters = isOfRow ? filters.following(move, schema.keyColumns) : filters else { return nil }
                operation = .delete(filters: filters)
            }
        }
        return QueuedMutation(
            id: id, table: table, operation: operation, rowKeys: keys, hasGeneratedKey: hasGeneratedKey, group: group,
            createdAt: createdAt)
    }
}

extension RawJSON {
    /// These values with the new key where they held the former one: in columns that refer to the row and, in an update of the
    /// row itself, in the key's own, as an app sends that writes whole rows.
    fileprivate func following(_ move: KeyMove, _ schema: TableSchema, isOfRow: Bool = false) -> RawJSON? {
        var changes: [Member] = []
        for (column, target) in schema.references.sorted(by: { $0.key < $1.key }) where target == move.table {
            guard let text = member(column)?.scalarText, RowKey(components: [text]) == move.old else { continue }
            guard let value = move.new?.values.first, move.new?.values.count == 1 else { return nil }
            changes.append(Member(name: column, value: value))
        }
        if isOfRow, let new = move.new, let previous = move.old.components(count: schema.keyColumns.count) {
            for (column, (part, value)) in zip(schema.keyColumns, zip(previous, new.values)) {
                guard let text = member(column)?.scalarText, RowKey(components: [text]).text == part else { continue }
                changes.append(Member(name: column, value: value))
            }
        }
        return merging(changes)
    }
}

extension [QueuedMutation.Filter] {
    /// These conditions with the new key; nil unless each column of the key has one condition, an `eq`.
    fileprivate func following(_ move: KeyMove, _ keyColumns: [String]) -> [QueuedMutation.Filter]? {
        guard let new = move.new else { return nil }
        var filters = self
        for (column, value) in zip(keyColumns, new.values) {
            let places = indices.filter { self[$0].isOn(column) }
            guard places.count == 1, let text = value.scalarText, self[places[0]].value.hasPrefix("eq.") else {
                return nil
            }
            filters[places[0]] = QueuedMutation.Filter(name: self[places[0]].name, value: "eq." + text)
        }
        return filters
    }
}
