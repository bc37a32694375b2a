internal import KizunaCore
package import KizunaStore

// The primary keys that a mutation writes.

extension QueuedMutation {
    /// The values of the key columns after the mutation, for a mutation of one row; nil when it does not name all of them.
    func keyValues(_ keyColumns: [String]) -> [RawJSON]? {
        guard rowKeys.count == 1 else { return nil }
        let values =
            switch operation {
            case .insert(let row), .upsert(let row, _, _): keyColumns.compactMap { row.member($0) }
            case .update(let patch, let filters):
                keyColumns.compactMap { patch.member($0) ?? filters.pinnedText(of: $0).map { RawJSON(string: $0) } }
            case .delete: [RawJSON]()
            }
        return values.compactMap(\.scalarText).count == keyColumns.count ? values : nil
    }

    /// Whether it is an insert whose key the server generates. No other queued mutation can name its row.
    package var isServerKeyedInsert: Bool {
        if case .insert = operation { rowKeys.isEmpty } else { false }
    }

    /// Whether it may be sent again after an unknown outcome. A repeated insert without a key would add a second row.
    package var isRepeatable: Bool {
        switch operation {
        case .insert: !rowKeys.isEmpty
        case .upsert(_, let onConflict, _): !rowKeys.isEmpty || !onConflict.isEmpty
        case .update, .delete: true
        }
    }
}
