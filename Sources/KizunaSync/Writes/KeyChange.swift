package import KizunaCore
package import KizunaStore

/// What a write does to the primary keys of the rows it touches.
package enum KeyChange: Sendable, Equatable {
    /// Each row keeps its key.
    case none
    /// These rows have other keys afterwards; no two of them the same.
    case moves([RowKey: RowKey])
    /// Rows may have other keys afterwards, and which cannot be told beforehand.
    case unknown
}

extension QueuedMutation {
    /// What the write does to its rows' keys. An update that repeats the key it names, as an app does that sends whole
    /// rows, changes none.
    package func keyChange(keyColumns: [String]) -> KeyChange {
        switch operation {
        case .insert, .delete: return .none
        case .upsert(_, let onConflict, let ignoresDuplicates):
            // It meets a row by other columns and gives it the key it carries itself.
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
