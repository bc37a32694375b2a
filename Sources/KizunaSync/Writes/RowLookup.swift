internal import KizunaCore
internal import KizunaPostgREST
internal import KizunaStore

/// Looks for the rows that queued writes name, as the queue's owner sees them, to find out what became of the writes.
struct RowLookup: Sendable {
    let context: RequestContext
    let generation: Int

    /// The one row of a request. One that may not be read is as good as none: row level security would hide it.
    func row(of request: TableRequest, _ schema: TableSchema) async throws -> RawJSON? {
        try await response(to: request, schema)?.all().first
    }

    /// The rows that inserts made, by key, as far as the owner may read them. Many are asked for at once: on a bad network a
    /// look for each would not come to its end.
    func rows(madeBy entries: [QueuedMutation], _ schema: TableSchema) async throws -> [RowKey: RawJSON] {
        var found: [RowKey: RawJSON] = [:]
        var rest = entries[...]
        var together = Self.mostKeys
        while let first = rest.first {
            let group = rest.prefix(together)
            if group.count > 1, let request = TableRequest.rows(madeBy: group, keyColumns: schema.keyColumns) {
                let response = try await response(to: request, schema)
                if let response, !response.isComplete {
                    // A cap on the rows of an answer that is lower still.
                    together = 1
                    continue
                }
                for row in response?.all() ?? [] {
                    if let key = row.rowKey(columns: schema.keyColumns) { found[key] = row }
                }
                rest = rest.dropFirst(group.count)
            } else {
                if let key = first.rowKeys.first,
                    let request = TableRequest.row(of: first, keyColumns: schema.keyColumns)
                {
                    found[key] = try await row(of: request, schema)
                }
                rest = rest.dropFirst()
            }
        }
        return found
    }

    /// As many as one URL holds.
    private static let mostKeys = 100

    /// The keys of those rows that deletes name and that are still there; nil where the deletes do not name them plainly,
    /// or the server gave some of them only.
    func keysLeft(by entries: [QueuedMutation]) async throws -> Set<RowKey>? {
        let schema = context.schemas[entries[0].table]
        guard var request = TableRequest.rows(of: entries, keyColumns: schema.keyColumns, types: schema.types) else {
            return nil
        }
        request.count = .exact
        guard let response = try await response(to: request, schema) else { return [] }
        return response.isComplete ? Set(response.rows.compactMap(\.key)) : nil
    }

    /// Nil where the owner may not read the table.
    private func response(to request: TableRequest, _ schema: TableSchema) async throws -> ResponseRows? {
        let credentials = context.credentials(generation: generation)
        // Without a session row level security would show nothing, and that would read as a row that is not there.
        guard credentials.isSettled else { throw WireFailure(.notSent, "no session") }
        do {
            let response = try await context.gateway.read(request, as: credentials, while: isStillOwner)
            return try ResponseRows(response, to: request, keyColumns: schema.keyColumns)
        } catch let failure as Gateway.ReadFailure where failure.isForGood {
            return nil
        }
    }

    @Sendable private func isStillOwner() -> Bool { context.credentials(generation: generation).isSettled }
}

extension Gateway.ReadFailure {
    /// Whether it is PostgREST's own refusal, which asking again does not change.
    fileprivate var isForGood: Bool {
        guard rejectedToken == nil, let server = error.server, let code = server.code else { return false }
        switch server.status {
        case 401: return code == "42501"
        case 408, 425, 429: return false
        default: return (400..<500).contains(server.status)
        }
    }
}
