package import KizunaCore

/// What reads and the queue need to make requests for an owner and to store the responses.
package struct RequestContext: Sendable {
    package let environment: SyncEnvironment
    package let gateway: Gateway
    package let logicalClock: LogicalClock
    package let schemas: TableSchemas
    package let trust: ResponseTrust
    package let owners: OwnerAccess
    /// Evicts cached queries after one was stored.
    package let evictCachedQueries: @Sendable (OwnerStoreHandle) async -> Void

    package init(
        environment: SyncEnvironment, gateway: Gateway, logicalClock: LogicalClock, schemas: TableSchemas,
        trust: ResponseTrust, owners: OwnerAccess,
        evictCachedQueries: @escaping @Sendable (OwnerStoreHandle) async -> Void
    ) {
        self.environment = environment
        self.gateway = gateway
        self.logicalClock = logicalClock
        self.schemas = schemas
        self.trust = trust
        self.owners = owners
        self.evictCachedQueries = evictCachedQueries
    }

    /// How long a read waits for a session that has not settled yet.
    package static let sessionWait = Duration.seconds(10)

    /// Credentials for a request of this owner generation.
    package func credentials(generation: Int) -> Credentials { owners.credentials(generation: generation) }

    /// Reports a token that the server did not accept.
    package func tokenRejected(_ token: String) { owners.tokenRejected(token) }
}
