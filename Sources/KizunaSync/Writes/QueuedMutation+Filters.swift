internal import KizunaCore
internal import KizunaPostgREST
package import KizunaStore

// The filters of an update or delete, and the keys they name.

extension QueuedMutation {
    /// The filters of an update or delete; nil for an insert or upsert.
    private var filters: [Filter]? {
        switch operation {
        case .update(_, let filters), .delete(let filters): filters
        case .insert, .upsert: nil
        }
    }

    /// The filter of an update or delete that has exactly one.
    var soleFilter: Filter? {
        guard let filters, filters.count == 1 else { return nil }
        return filters[0]
    }

    /// The key column and the key of an update or delete of one row that it names by this key alone; nil otherwise, and for
    /// a key with other characters than letters, digits, `-` and `_`, which needs quotes in a list of keys.
    package func plainKeyFilter(keyColumns: [String]) -> (column: String, key: RowKey)? {
        guard keyColumns.count == 1, rowKeys.count == 1, let filter = soleFilter else { return nil }
        let (column, key) = (keyColumns[0], rowKeys[0])
        guard filter.name == column, let text = filter.equalText, RowKey(components: [text]) == key, !key.text.isEmpty,
            key.text.utf8.allSatisfy({ byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                default: false
                }
            })
        else { return nil }
        return (column, key)
    }

    /// The filters on the key columns of an update or delete; nil when these filters match other rows than `rowKeys`.
    func keyFilters(_ keyColumns: [String], _ types: TableTypes) -> [Filter]? {
        guard let filters else { return nil }
        let keyFilters = keyColumns.compactMap { column in
            filters.first { $0.isOn(column) && ($0.value.hasPrefix("eq.") || $0.value.hasPrefix("in.")) }
        }
        let pinned = FilterExpression(filters: keyFilters.items).pinnedKeys(keyColumns: keyColumns, types: types)
        return pinned == rowKeys ? keyFilters : nil
    }
}

extension [QueuedMutation] {
    /// The value of an `in` filter that names the rows of all these updates or deletes; each has a `plainKeyFilter`. A key
    /// keeps the spelling of its own filter: a text column distinguishes `A` from `a`, a UUID column does not.
    var keyList: String {
        "in.(\(compactMap { $0.soleFilter?.equalText }.joined(separator: ",")))"
    }
}

extension [QueuedMutation.Filter] {
    /// The value of the first `eq` filter on a column.
    func pinnedText(of column: String) -> String? {
        for filter in self where filter.isOn(column) {
            if let text = filter.equalText { return text }
        }
        return nil
    }
}

extension QueuedMutation.Filter {
    /// The value of an `eq` filter.
    var equalText: String? {
        value.hasPrefix("eq.") ? String(value.dropFirst("eq.".count)) : nil
    }

    /// Whether the filter compares this column; its name may be quoted.
    func isOn(_ column: String) -> Bool {
        guard let path = ColumnPath(parsing: name) else { return false }
        return path.embeds.isEmpty && path.steps.isEmpty && WireText.areSame(path.column, column)
    }
}
