package import KizunaCore
package import KizunaPostgREST
package import KizunaStore

/// Queued writes as one HTTP request.
package enum WriteRequest {
    /// Entries that share a request are inserts or upserts of one table with the same columns.
    package static func make(_ entries: [QueueEntry], returningRows: Bool) -> WireRequest {
        guard let first = entries.first else { preconditionFailure("WriteRequest: no entries") }
        let preference = returningRows ? "return=representation" : "return=minimal"
        switch first.operation {
        case .insert(let row):
            return request(
                "POST", first.table, [columns(row)], body: body(of: entries), prefer: [preference])
        case .upsert(let row, let onConflict, let ignoresDuplicates):
            var parameters = [columns(row)]
            if !onConflict.isEmpty {
                parameters.append(QueryItem("on_conflict", onConflict.joined(separator: ",")))
            }
            let resolution = ignoresDuplicates ? "ignore-duplicates" : "merge-duplicates"
            return request(
                "POST", first.table, parameters, body: body(of: entries),
                prefer: ["resolution=\(resolution)", preference])
        case .update(let patch, let filters):
            return request(
                "PATCH", first.table, filters.map { QueryItem($0.name, $0.value) }, body: patch.bytes,
                prefer: [preference])
        case .delete(let filters):
            return request(
                "DELETE", first.table, filters.map { QueryItem($0.name, $0.value) }, body: nil, prefer: [preference])
        }
    }

    private static func body(of entries: [QueueEntry]) -> [UInt8] {
        RawJSON(
            elements: entries.map { entry in
                switch entry.operation {
                case .insert(let row), .upsert(let row, _, _): row
                case .update, .delete: preconditionFailure("WriteRequest: an update or delete in a batch")
                }
            }
        ).bytes
    }

    private static func columns(_ row: RawJSON) -> QueryItem {
        let names = ((try? row.objectMembers()) ?? []).map(\.name).sorted()
        return QueryItem("columns", names.map { "\"\($0.replacing("\"", with: "\\\""))\"" }.joined(separator: ","))
    }

    private static func request(
        _ method: String, _ table: TableID, _ parameters: [QueryItem], body: [UInt8]?, prefer: [String]
    ) -> WireRequest {
        let query = parameters.map(\.encoded).joined(separator: "&")
        var headers = [
            WireHeader("Accept", "application/json"), WireHeader("Prefer", prefer.joined(separator: ",")),
        ]
        if body != nil { headers.append(WireHeader("Content-Type", "application/json")) }
        if table.schema != "public" { headers.append(WireHeader("Content-Profile", table.schema)) }
        return WireRequest(
            method: method, url: "/" + WireText.pathEncoded(table.name) + (query.isEmpty ? "" : "?" + query),
            headers: headers, body: body)
    }
}

extension TableRequest {
    /// The request for the one row a queued write names by its key; nil where it names none.
    package static func row(of entry: QueueEntry, keyColumns: [String]) -> TableRequest? {
        guard entry.rowKeys.count == 1 else { return nil }
        var request = TableRequest(schema: entry.table.schema, table: entry.table.name)
        switch entry.operation {
        case .insert(let row), .upsert(let row, _, _):
            for column in keyColumns {
                guard let value = row.member(column)?.scalarText else { return nil }
                request.append(column, "eq.\(value)")
            }
        case .update(_, let filters), .delete(let filters):
            for column in keyColumns {
                guard let filter = filters.first(where: { $0.name == column && $0.value.hasPrefix("eq.") }) else {
                    return nil
                }
                request.append(filter.name, filter.value)
            }
        }
        return request
    }

    /// A cached list's request, from the parameters the store keeps.
    package init(_ head: ListHead) {
        self.init(schema: head.table.schema, table: head.table.name)
        for parameter in head.parameters {
            if parameter.name == "select" { columns = parameter.value } else { append(parameter.name, parameter.value) }
        }
    }
}

extension QueueEntry {
    /// Whether a row found under this insert's key is the one this insert made: certain when the key was minted here,
    /// else judged by what the insert said of the row.
    package func isAuthor(of row: RawJSON) -> Bool {
        if isKeyMinted { return true }
        switch operation {
        case .insert(let sent), .upsert(let sent, _, _):
            guard let members = try? sent.objectMembers() else { return false }
            return members.allSatisfy { member in
                guard let found = row.member(member.name) else { return false }
                // Other spellings of one value (a time, a number) cannot be told from another value, so only equal
                // kinds of text speak against authorship.
                return found == member.value || found.kind != member.value.kind || found.kind == .number
                    || found.kind == .object || found.kind == .array
                    || (found.kind == .string && member.value.stringValue?.contains(":") == true)
            }
        case .update, .delete: return false
        }
    }
}

extension AnswerRows {
    /// The rows as values.
    package func all() -> [RawJSON] {
        rows.map { RawJSON(unchecked: Array(body[$0.range])) }
    }
}

extension ReadContext {
    /// The shape of a cached list, made from what the store keeps of its request.
    package func shape(of head: ListHead) -> ListShape {
        let facts = tables(head.table)
        return ListShape(request: TableRequest(head), types: facts.types, keyColumns: facts.keyColumns)
    }
}
