package import KizunaCore
package import KizunaPostgREST
package import KizunaStore

/// Queued writes as one HTTP request.
package enum WriteRequest {
    /// Entries that share a request are inserts or upserts of one table with the same columns.
    package static func make(_ entries: [QueuedMutation], returningRows: Bool) -> WireRequest {
        guard let first = entries.first else { preconditionFailure("WriteRequest: no entries") }
        let returning: WriteWire.Returning = returningRows ? .representation : .minimal
        let (schema, table) = (first.table.schema, first.table.name)
        let body: [UInt8]?
        let request: WriteWire.Request
        switch first.operation {
        case .insert(let row):
            body = rows(of: entries)
            request = WriteWire.insert(schema: schema, table: table, columns: columns(row), returning: returning)
        case .upsert(let row, let onConflict, let ignoresDuplicates):
            body = rows(of: entries)
            request = WriteWire.insert(
                schema: schema, table: table, columns: columns(row),
                onConflict: onConflict.isEmpty ? nil : onConflict.map(WireText.columnName).joined(separator: ","),
                resolution: ignoresDuplicates ? .ignore : .merge, returning: returning)
        case .update(let patch, let filters):
            body = patch.bytes
            request = WriteWire.update(
                schema: schema, table: table, filters: keyList(of: entries) ?? filters.items, returning: returning)
        case .delete(let filters):
            body = nil
            request = WriteWire.delete(
                schema: schema, table: table, filters: keyList(of: entries) ?? filters.items, returning: returning)
        }
        return WireRequest(method: request.method, url: request.target, headers: request.headers, body: body)
    }

    /// One filter for the rows that several updates or deletes name by their keys alone; nil for a single one.
    private static func keyList(of entries: [QueuedMutation]) -> [QueryItem]? {
        guard entries.count > 1, let column = entries[0].soleFilter?.name else { return nil }
        return [QueryItem(column, entries.keyList)]
    }

    /// Whether these may travel in one request: rows with the same columns, since a column that one row lacks would
    /// become null, and one that the first row lacks would be dropped; or updates of the same values, or deletes, of rows
    /// they name by their keys alone.
    package static func canShare(_ entries: [QueuedMutation]) -> Bool {
        guard entries.count > 1, let first = entries.first else { return true }
        if let filter = first.soleFilter {
            return entries.allSatisfy { entry in
                entry.table == first.table && entry.isSameChange(as: first)
                    && entry.plainKeyFilter(keyColumns: [filter.name]) != nil
            }
        }
        let named = entries.map { entry -> Set<String>? in
            switch entry.operation {
            case .insert(let row), .upsert(let row, _, _): columns(row)
            case .update, .delete: nil
            }
        }
        return named.allSatisfy { $0 != nil && $0 == named[0] }
    }

    private static func rows(of entries: [QueuedMutation]) -> [UInt8] {
        RawJSON(
            elements: entries.map { entry in
                switch entry.operation {
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
    /// The condition of an update or delete that has one.
    fileprivate var soleFilter: Filter? {
        switch operation {
        case .update(_, let filters), .delete(let filters): filters.count == 1 ? filters[0] : nil
        case .insert, .upsert: nil
        }
    }

    /// Whether two updates set the same values, or both are deletes.
    fileprivate func isSameChange(as other: QueuedMutation) -> Bool {
        switch (operation, other.operation) {
        case (.delete, .delete): true
        case (.update(let patch, _), .update(let values, _)): patch == values
        default: false
        }
    }
}

extension [QueuedMutation] {
    /// The value of a filter that names all rows of these writes; only for keys that need no quotes. Each key is spelled as
    /// its own filter spells it, since a column of texts tells `A` from `a` where one of UUIDs does not.
    fileprivate var keyList: String {
        "in.(\(compactMap(\.soleFilter).map { $0.value.dropFirst("eq.".count) }.joined(separator: ",")))"
    }
}

extension TableRequest {
    /// The request for the keys of the rows that these updates or deletes name; nil where they do not name them plainly.
    package static func rows(of entries: [QueuedMutation], keyColumns: [String], types: TableTypes) -> TableRequest? {
        guard let first = entries.first, let column = keyColumns.first else { return nil }
        var request = TableRequest(
            schema: first.table.schema, table: first.table.name,
            columns: keyColumns.map(WireText.columnName).joined(separator: ","))
        if entries.count > 1 {
            request.append(WireText.columnName(column), entries.keyList)
        } else {
            guard let filters = first.namingFilters(keyColumns, types) else { return nil }
            for filter in filters { request.append(filter.name, filter.value) }
        }
        return request
    }

    /// The request for the rows that these inserts or upserts made; nil where their keys cannot stand in one list.
    package static func rows(madeBy entries: ArraySlice<QueuedMutation>, keyColumns: [String]) -> TableRequest? {
        guard let table = entries.first?.table, keyColumns.count == 1 else { return nil }
        let texts = entries.compactMap { $0.isKeyed ? nil : $0.keyValues(keyColumns)?[0].scalarText }
        guard texts.count == entries.count, !texts.contains("") else { return nil }
        var request = TableRequest(schema: table.schema, table: table.name)
        let list = texts.map(WireText.listMember).joined(separator: ",")
        request.append(WireText.columnName(keyColumns[0]), "in.(\(list))")
        request.count = .exact
        return request
    }

    /// The request for the row an update names, under the key the update gives it; nil where it names none.
    package static func movedRow(of entry: QueuedMutation, keyColumns: [String]) -> TableRequest? {
        guard case .update = entry.operation else { return nil }
        return entry.keyValues(keyColumns).map { row($0.compactMap(\.scalarText), of: entry.table, keyColumns) }
    }

    /// The request for the row of these values of the key's columns.
    private static func row(_ values: [String], of table: TableID, _ keyColumns: [String]) -> TableRequest {
        var request = TableRequest(schema: table.schema, table: table.name)
        for item in WriteWire.keyFilters(Array(zip(keyColumns, values))) { request.append(item.name, item.value) }
        return request
    }

    /// The request for the one row a queued write names by its key; nil where it names none.
    package static func row(of entry: QueuedMutation, keyColumns: [String]) -> TableRequest? {
        guard entry.rowKeys.count == 1 else { return nil }
        let values =
            switch entry.operation {
            case .insert, .upsert: entry.keyValues(keyColumns)?.compactMap(\.scalarText) ?? []
            case .update(_, let filters), .delete(let filters): keyColumns.compactMap { filters.pinnedText(of: $0) }
            }
        return values.count == keyColumns.count ? row(values, of: entry.table, keyColumns) : nil
    }

    /// A cached list's request, from the parameters the store keeps.
    package init(_ head: CachedQueryMetadata) {
        self.init(schema: head.table.schema, table: head.table.name)
        for parameter in head.parameters {
            if parameter.name == "select" { columns = parameter.value } else { append(parameter.name, parameter.value) }
        }
    }
}

extension [QueuedMutation.Filter] {
    /// The value an `eq` on a column asks for.
    func pinnedText(of column: String) -> String? {
        first { $0.isOn(column) && $0.value.hasPrefix("eq.") }.map { String($0.value.dropFirst("eq.".count)) }
    }
}

extension QueuedMutation.Filter {
    /// Whether it is about this column; a name may stand in quotes.
    func isOn(_ column: String) -> Bool {
        guard let path = ColumnPath(parsing: name) else { return false }
        return path.embeds.isEmpty && path.steps.isEmpty && WireText.areSame(path.column, column)
    }
}

extension QueuedMutation {
    /// The values of the key's columns when the write is done, of the one row it makes or changes; nil where it does not say
    /// all of them.
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

    /// Those of an update's or delete's filters that name its rows; nil where that takes others too.
    fileprivate func namingFilters(_ keyColumns: [String], _ types: TableTypes) -> [Filter]? {
        let all: [Filter]
        switch operation {
        case .update(_, let filters), .delete(let filters): all = filters
        case .insert, .upsert: return nil
        }
        let naming = keyColumns.compactMap { column in
            all.first { $0.isOn(column) && ($0.value.hasPrefix("eq.") || $0.value.hasPrefix("in.")) }
        }
        let pinned = FilterExpression(filters: naming.items).pinnedKeys(keyColumns: keyColumns, types: types)
        return pinned == rowKeys ? naming : nil
    }

    /// Whether a row found under this insert's key is the one this insert made: certain when the key was minted here,
    /// else judged by what the insert said of the row.
    package func isAuthor(of row: RawJSON) -> Bool {
        if hasGeneratedKey { return true }
        switch operation {
        case .insert(let sent), .upsert(let sent, _, _):
            guard let members = try? sent.objectMembers() else { return false }
            return members.allSatisfy { member in
                guard let found = row.member(member.name) else { return false }
                return found == member.value || Self.mayBeSame(found, member)
            }
        case .update, .delete: return false
        }
    }

    /// Whether two texts may spell one value. A time, an object or a value of another kind cannot be told from another
    /// spelling; numbers can, and different words are different.
    private static func mayBeSame(_ found: RawJSON, _ sent: RawJSON.Member) -> Bool {
        guard found.kind == sent.value.kind else { return true }
        switch found.kind {
        case .number:
            let condition = FilterExpression(filters: [QueryItem("value", "eq.\(sent.value.text)")])
            let row = RawJSON(members: [.init(name: "value", value: found)])
            return condition.evaluate(RowView(row), in: TableTypes()) != .no
        case .object, .array: return true
        case .string: return sent.value.stringValue?.contains(":") == true
        case .boolean, .null: return false
        }
    }
}

extension ResponseRows {
    /// The rows as values.
    package func all() -> [RawJSON] {
        rows.map { RawJSON(unchecked: Array(body[$0.range])) }
    }
}
