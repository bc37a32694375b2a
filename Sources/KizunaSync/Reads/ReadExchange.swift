package import KizunaCore
package import KizunaPostgREST
internal import KizunaStore

/// One question to the server for rows, from the tick it takes to the answer in the vault.
package enum ReadExchange {
    package enum Outcome: Sendable {
        case stored
        /// The table changed after the question left: ask again.
        case refused
        /// Local data was cleared after the question left: not to be asked again by this read.
        case outdated
        /// The session is no longer settled; nothing was sent.
        case unsettled
        /// An empty answer that is not believed of an anonymous session.
        case untrusted
    }

    /// Asks the server and stores the answer. `noteTick` is told the question's tick before it leaves; a gateway other
    /// than the context's repeats differently.
    package static func run(
        _ request: TableRequest, cacheKey: String, in context: any ReadContext, handle: VaultHandle,
        gateway: Gateway? = nil, noteTick: (Tick) -> Void
    ) async throws -> Outcome {
        let credentials = context.credentials(generation: handle.generation)
        guard credentials.isSettled else { return .unsettled }
        let table = TableID(schema: request.schema, name: request.table)
        let facts = context.tables(table)
        let gateway = gateway ?? context.gateway
        let embedded = EmbeddedTables(request) { [context] in context.tables($0) }
        let askedAt = context.ticks.next()
        let askedSinceBoot = context.environment.host.sinceBoot()
        noteTick(askedAt)
        let answer: AnswerRows
        switch facts.completeness {
        case .asAnswered:
            let response = try await gateway.read(request, as: credentials)
            answer = try AnswerRows(response, to: request, keyColumns: facts.keyColumns)
        case .pagesUntilComplete:
            answer = try await PagedRead(request: request, keyColumns: facts.keyColumns, gateway: gateway)
                .rows(as: credentials)
        }
        if answer.rows.isEmpty, context.trust == .authenticatedSessionOnly, credentials == .anonymous {
            return .untrusted
        }
        try Task.checkCancellation()
        let outcome = try await handle.vault.store(
            ListAnswer(
                cacheKey: cacheKey, table: table, mayShow: embedded.mayShow, parameters: request.parameters,
                body: answer.body, rows: answer.rows, isComplete: answer.isComplete,
                hasPlainColumns: request.hasPlainColumns, askedAt: askedAt, askedSinceBoot: askedSinceBoot,
                fetchedAt: context.environment.wallClock()))
        return switch outcome {
        case .stored, .superseded: .stored
        case .olderThanTable: .refused
        case .olderThanClear: .outdated
        }
    }
}
