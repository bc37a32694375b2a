package import KizunaCore
package import KizunaStore

/// The effect of a mutation on the primary keys of its rows.
package enum KeyChange: Sendable, Equatable {
    /// Each row keeps its key.
    case none
    /// These rows get other keys, all different.
    case moves([RowKey: RowKey])
    /// Some rows may get other keys, and it is not known which.
    case unknown
}

extension QueuedMutation {
    /// Returns the effect of the mutation on the keys of its rows. An update that sets the key to the value it filters by, as
    /// an app does when it writes whole rows, has none.
    package func keyChange(keyColumns: [String]) -> KeyChange {
        switch operation {
        case .insert, .delete: return .none
        case .upsert(_, let onConflict, let ignoresDuplicates):
            // With other conflict columns, the existing row gets the key of the upsert.
            let isByKey = onConflict.isEmpty || Set(onConflict) == Set(keyColumns)
            return isByKey || ignoresDuplicates || rowKeys.isEmpty ? .none : .unknown
        case .update(let patch, _):
            let changed = keyColumns.map { patch.member($0) }
            guard changed.contains(where: { $0 != nil }) else { return .none }
            var moves: [RowKey: RowKey] = [:]
            for key in rowKeys {
                guard let parts = key.components(count: keyColumns.count) else { return .unknown }
                var moved: [String] = []
                for (part, value) in zip(parts, changed) {
                    guard let value else {
                        moved.append(part)
                        continue
                    }
                    guard let text = value.scalarText else { return .unknown }
                    moved.append(text)
                }
                moves[key] = RowKey(components: moved)
            }
            guard !moves.isEmpty, Set(moves.values).count == moves.count else { return .unknown }
            moves = moves.filter { $0.key != $0.value }
            return moves.isEmpty ? .none : .moves(moves)
        }
    }
}
