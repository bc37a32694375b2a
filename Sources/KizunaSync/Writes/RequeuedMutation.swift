package import KizunaCore
internal import KizunaPostgREST
package import KizunaStore

extension QueuedMutation {
    /// Returns the mutation to queue again: not sent yet, in the same group, with the columns of the patch applied.
    ///
    /// - Throws: `SyncError` with code `notQueueable` for a patch of a delete.
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

/// The change of a row's primary key by an edit of a rejected mutation.
package struct KeyMove: Sendable {
    fileprivate let table: TableID
    fileprivate let old: RowKey
    /// The new key and the values of its columns; nil when they are not known.
    fileprivate let new: (key: RowKey, values: [RawJSON])?

    /// Nil when the key stays the same.
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
    /// The key, after the mutation, of the one row it makes or changes, and the values of the key columns.
    fileprivate func rowAfter(_ keyColumns: [String]) -> (key: RowKey, values: [RawJSON])? {
        keyValues(keyColumns).map { (RowKey(components: $0.compactMap(\.scalarText)), $0) }
    }

    /// Returns a parked mutation to queue again behind the mutation it was parked with; nil when it names the previous key in a
    /// way that cannot be rewritten, because it would write to a row of somebody else.
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
    /// Replaces the previous key with the new one: in columns that reference the row and, for an update of the row itself, in
    /// the key columns, which an app sends when it writes whole rows.
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
    /// Replaces the previous key with the new one; nil unless each key column has exactly one filter, an `eq`.
    fileprivate func following(_ move: KeyMove, _ keyColumns: [String]) -> [QueuedMutation.Filter]? {
        guard let new = move.new else { return nil }
        var filters = self
        for (column, value) in zip(keyColumns, new.values) {
            let places = indices.filter { self[$0].isOn(column) }
            guard places.count == 1, let text = value.scalarText, self[places[0]].equalText != nil else {
                return nil
            }
            filters[places[0]] = QueuedMutation.Filter(name: self[places[0]].name, value: "eq." + text)
        }
        return filters
    }
}
