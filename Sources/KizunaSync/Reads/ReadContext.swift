package import KizunaCore
package import KizunaPostgREST
package import KizunaStore

/// What reads need of the engine they run in.
package protocol ReadContext: AnyObject, Sendable {
    var environment: SyncEnvironment { get }
    var gateway: Gateway { get }
    var ticks: TickSource { get }
    var trust: ResponseTrust { get }
    func tables(_ table: TableID) -> TableFacts
    /// With what a request of this generation may go out now.
    func credentials(generation: Int) -> OwnerMachine.Credentials
    /// The server did not accept this token.
    func tokenRejected(_ token: String)
}

/// What the configuration says of one table.
package struct TableFacts: Sendable {
    package let keyColumns: [String]
    package let types: TableTypes
    package let mintsKeys: Bool
    /// Foreign keys: column, and the table whose key it holds.
    package let references: [String: TableID]

    package init(
        keyColumns: [String] = ["id"], types: TableTypes = TableTypes(), mintsKeys: Bool = true,
        references: [String: TableID] = [:]
    ) {
        self.keyColumns = keyColumns
        self.types = types
        self.mintsKeys = mintsKeys
        self.references = references
    }
}

/// Whether an empty answer is believed when nobody is signed in.
///
/// Row level security answers an absent or expired identity with an empty list instead of an error.
///
/// Source: seed "Refresh lifecycle", cold start; spec reads §11.
public enum ResponseTrust: Sendable, Hashable {
    /// Every answer is stored.
    case anySession
    /// An empty answer is stored only for a signed-in user; a signed-out read of an empty table stays `refreshing`.
    case authenticatedSessionOnly
}

/// One request to the server for rows, from the tick it takes to the answer in the vault.
package enum ReadExchange {
    package enum Outcome: Sendable {
        case stored
        case refused
        case outdated
        case untrusted
    }

    /// Asks the server and stores the answer. `noteTick` is told the request's tick before it leaves.
    package static func run(
        _ request: TableRequest, cacheKey: String, in context: any ReadContext, handle: VaultHandle,
        noteTick: (Tick) -> Void
    ) async throws -> Outcome {
        let credentials = context.credentials(generation: handle.generation)
        let table = TableID(schema: request.schema, name: request.table)
        let facts = context.tables(table)
        let askedAt = context.ticks.next()
        noteTick(askedAt)
        let response = try await context.gateway.read(request, as: credentials)
        let answer = try AnswerRows(response, to: request, keyColumns: facts.keyColumns)
        if answer.rows.isEmpty, context.trust == .authenticatedSessionOnly, credentials == .anonymous {
            return .untrusted
        }
        try Task.checkCancellation()
        let outcome = try await handle.vault.store(
            ListAnswer(
                cacheKey: cacheKey, table: table,
                embedded: request.embeddedTables.map { TableID(schema: request.schema, name: $0) },
                parameters: request.parameters, body: answer.body, rows: answer.rows, isComplete: answer.isComplete,
                hasPlainColumns: request.hasPlainColumns, askedAt: askedAt,
                fetchedAt: context.environment.wallClock()))
        return switch outcome {
        case .stored, .superseded: .stored
        case .olderThanTable: .refused
        case .olderThanClear: .outdated
        }
    }
}

extension TableRequest {
    /// The request's parameters as the store keeps them, enough to make the request again.
    package var parameters: [QueueEntry.Filter] {
        items.map { QueueEntry.Filter(name: $0.name, value: $0.value) }
    }

    /// Whether answered rows carry the table's own column names.
    package var hasPlainColumns: Bool {
        switch selectedColumns {
        case .all: true
        case .list(let columns): columns.allSatisfy { $0.name == $0.column }
        case .notFollowable: false
        }
    }
}
