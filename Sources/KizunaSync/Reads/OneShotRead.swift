internal import KizunaCore
public import KizunaPostgREST

/// A read that answers once. A value: nothing happens before `execute()`.
///
/// See docs/spec/reads.md, One-shot reads.
public struct OneShotRead<Value: Decodable & Sendable>: OfflinePostgrestFilterBuilder {
    /// The request this read sends.
    public var request: TableRequest
    private let client: KizunaSyncClient
    private let readStrategy: ReadStrategy

    package init(client: KizunaSyncClient, request: TableRequest, readStrategy: ReadStrategy) {
        self.client = client
        self.request = request
        self.readStrategy = readStrategy
    }

    /// Reads once. Waits for a session that is still settling, at most ten seconds.
    ///
    /// What it fetches becomes the cached list, so every live read of the same query shows it.
    ///
    /// - Throws: `SyncError`: `connectivity` or `networkDisabled` when the server cannot be asked and nothing is cached,
    ///   `server` for an error of the server's own, `cacheMiss` under `cacheOnly`, `malformedResponse`, `decoding`;
    ///   `CancellationError` when the calling task is cancelled.
    public func execute() async throws -> QuerySnapshot<Value> {
        let engine = try client.engine()
        let snapshot = try await engine.readOnce(request, strategy: readStrategy)
        return try SnapshotDecoder<Value>(table: request.table, log: engine.environment.log).decode(snapshot)
    }
}
