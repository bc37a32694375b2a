package import KizunaCore
internal import KizunaPostgREST
package import KizunaStore

/// Makes the HTTP request that sends queued mutations.
package enum WriteRequest {
    /// Returns the request that sends these mutations. Several must satisfy `canShare`.
    package static func make(_ mutations: [QueuedMutation], returningRows: Bool) -> WireRequest {
        guard let first = mutations.first else { preconditionFailure("WriteRequest: no mutations") }
        let returning: WriteWire.Returning = returningRows ? .representation : .minimal
        let (schema, table) = (first.table.schema, first.table.name)
        let body: [UInt8]?
        let request: WriteWire.Request
        switch first.operation {
        case .insert(let row):
            body = rows(of: mutations)
            request = WriteWire.insert(schema: schema, table: table, columns: columns(row), returning: returning)
        case .upsert(let row, let onConflict, let ignoresDuplicates):
            body = rows(of: mutations)
            request = WriteWire.insert(
                schema: schema, table: table, columns: columns(row),
                onConflict: onConflict.isEmpty ? nil : onConflict.map(WireText.columnName).joined(separator: ","),
                resolution: ignoresDuplicates ? .ignore : .merge, returning: returning)
        case .update(let patch, let filters):
            body = patch.bytes
            request = WriteWire.update(
                schema: schema, table: table, filters: keyList(of: mutations) ?? filters.items, returning: returning)
        case .delete(let filters):
            body = nil
            request = WriteWire.delete(
                schema: schema, table: table, filters: keyList(of: mutations) ?? filters.items, returning: returning)
        }
        return WireRequest(method: request.method, url: request.target, headers: request.headers, body: body)
    }

    /// Returns whether one request can send these mutations: inserts or upserts with the same columns, or updates with the
    /// same values or deletes that name one row each by its key alone.
    ///
    /// The columns must be the same because the server writes null to a column that one row lacks, and drops a column that
    /// the first row lacks.
    package static func canShare(_ mutations: [QueuedMutation]) -> Bool {
        guard mutations.count > 1, let first = mutations.first else { return true }
        if let filter = first.soleFilter {
            return mutations.allSatisfy { mutation in
                mutation.table == first.table && mutation.hasSameChange(as: first)
                    && mutation.plainKeyFilter(keyColumns: [filter.name]) != nil
            }
        }
        let named = mutations.map { mutation -> Set<String>? in
            switch mutation.operation {
            case .insert(let row), .upsert(let row, _, _): columns(row)
            case .update, .delete: nil
            }
        }
        return named.allSatisfy { $0 != nil && $0 == named[0] }
    }

    /// Returns the filter for the rows of several updates or deletes; nil for a single one, which keeps its own filters.
    private static func keyList(of mutations: [QueuedMutation]) -> [QueryItem]? {
        guard mutations.count > 1, let column = mutations[0].soleFilter?.name else { return nil }
        return [QueryItem(column, mutations.keyList)]
    }

    private static func rows(of mutations: [QueuedMutation]) -> [UInt8] {
        RawJSON(
            elements: mutations.map { mutation in
                switch mutation.operation {
                case .insert(let row), .upsert(let row, _, _): row
                case .update, .delete: preconditionFailure("WriteRequest: an update or delete in a batch")
                }
            }
        ).bytes
    }

    private static func columns(_ row: RawJSON) -> Set<String> {
        Set(((try? row.objectMembers()) ?? []).map(\.name))
    }
}

extension QueuedMutation {
    /// Whether two updates set the same values, or both mutations are deletes.
    fileprivate func hasSameChange(as other: QueuedMutation) -> Bool {
        switch (operation, other.operation) {
        case (.delete, .delete): true
        case (.update(let patch, _), .update(let values, _)): patch == values
        default: false
        }
    }
}
