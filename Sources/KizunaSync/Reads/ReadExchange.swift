package import KizunaCore
package import KizunaPostgREST
internal import KizunaStore

/// One question to the server for rows, from the tick it takes to the answer in the vault.
package enum ReadExchange {
    package enum Outcome: Sendable {
        case stored
        /// The table changed after the question left: ask again.
        case rejected
        /// Local data was cleared after the question left: not to be asked again by this read.
        case outdated
        /// The session is no longer settled; nothing was sent.
        case unsettled
        /// An empty answer that is not believed of an anonymous session.
        case untrusted
    }

    /// Asks the server and stores the answer. `recordTick` is told the question's tick before it leaves; a gateway other
    /// than the context's repeats differently.
    package static func run(
        _ request: TableRequest, cacheKey: String, in context: RequestContext, handle: OwnerStoreHandle,
        gateway: Gateway? = nil, recordTick: (LogicalTime) -> Void
    ) async throws -> Outcome {
        let credentials = context.credentials(generation: handle.generation)
        guard credentials.isSettled else { return .unsettled }
        let table = TableID(schema: request.schema, name: request.table)
        let schema = context.schemas[table]
        let gateway = gateway ?? context.gateway
        let embedded = EmbeddedTables(request) { [schemas = context.schemas] in schemas[$0] }
        let askedAt = context.logicalClock.next()
        let askedSinceBoot = context.environment.host.sinceBoot()
        recordTick(askedAt)
        let parsed: ResponseRows
        switch schema.completeness {
        case .asAnswered:
            let response = try await gateway.read(request, as: credentials)
            parsed = try ResponseRows(response, to: request, keyColumns: schema.keyColumns)
        case .pagesUntilComplete:
            parsed = try await PagedRead(request: request, keyColumns: schema.keyColumns, gateway: gateway)
                .rows(as: credentials)
        }
        if parsed.rows.isEmpty, context.trust == .authenticatedSessionOnly, credentials == .anonymous {
            return .untrusted
        }
        try Task.checkCancellation()
        let outcome = try await handle.store.store(
            CachedQueryResponse(
                cacheKey: cacheKey, table: table, mayShow: embedded.mayShow, parameters: request.parameters,
                body: parsed.body, rows: parsed.rows, isComplete: parsed.isComplete,
                hasPlainColumns: request.hasPlainColumns, askedAt: askedAt, askedSinceBoot: askedSinceBoot,
                fetchedAt: context.environment.wallClock()))
        return switch outcome {
        case .stored, .superseded: .stored
        case .olderThanTable: .rejected
        case .olderThanClear: .outdated
        }
    }
}
