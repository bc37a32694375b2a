internal import KizunaCore
package import KizunaPostgREST
package import KizunaStore

// The reads that look up the rows of queued mutations.

extension TableRequest {
    /// Returns the request for the keys of the rows that these updates or deletes name; nil when they do not name them by
    /// their keys alone.
    package static func rows(of mutations: [QueuedMutation], keyColumns: [String], types: TableTypes) -> TableRequest? {
        guard let first = mutations.first, let column = keyColumns.first else { return nil }
        var request = TableRequest(
            schema: first.table.schema, table: first.table.name,
            columns: keyColumns.map(WireText.columnName).joined(separator: ","))
        if mutations.count > 1 {
            request.append(WireText.columnName(column), mutations.keyList)
        } else {
            guard let filters = first.keyFilters(keyColumns, types) else { return nil }
            for filter in filters { request.append(filter.name, filter.value) }
        }
        return request
    }

    /// Returns the request for the rows that these inserts or upserts make; nil when one list cannot hold their keys.
    package static func rows(madeBy mutations: ArraySlice<QueuedMutation>, keyColumns: [String]) -> TableRequest? {
        guard let table = mutations.first?.table, keyColumns.count == 1 else { return nil }
        let texts = mutations.compactMap { $0.isKeyed ? nil : $0.keyValues(keyColumns)?[0].scalarText }
        guard texts.count == mutations.count, !texts.contains("") else { return nil }
        var request = TableRequest(schema: table.schema, table: table.name)
        let list = texts.map(WireText.listMember).joined(separator: ",")
        request.append(WireText.columnName(keyColumns[0]), "in.(\(list))")
        request.count = .exact
        return request
    }

    /// Returns the request for the row of an update, under the key it has after the update; nil when it names no row by key.
    package static func movedRow(of mutation: QueuedMutation, keyColumns: [String]) -> TableRequest? {
        guard case .update = mutation.operation else { return nil }
        return mutation.keyValues(keyColumns).map { row($0.compactMap(\.scalarText), of: mutation.table, keyColumns) }
    }

    /// Returns the request for the one row that a mutation names by its key; nil when it names none or several.
    package static func row(of mutation: QueuedMutation, keyColumns: [String]) -> TableRequest? {
        guard mutation.rowKeys.count == 1 else { return nil }
        let values =
            switch mutation.operation {
            case .insert, .upsert: mutation.keyValues(keyColumns)?.compactMap(\.scalarText) ?? []
            case .update(_, let filters), .delete(let filters): keyColumns.compactMap { filters.pinnedText(of: $0) }
            }
        return values.count == keyColumns.count ? row(values, of: mutation.table, keyColumns) : nil
    }

    private static func row(_ values: [String], of table: TableID, _ keyColumns: [String]) -> TableRequest {
        var request = TableRequest(schema: table.schema, table: table.name)
        for item in WriteWire.keyFilters(Array(zip(keyColumns, values))) { request.append(item.name, item.value) }
        return request
    }
}
