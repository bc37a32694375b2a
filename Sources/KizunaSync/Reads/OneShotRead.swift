internal import KizunaCore
public import KizunaPostgREST

/// A read that answers once. A value: nothing happens before `execute()`.
///
/// See docs/spec/reads.md, One-shot reads.
public struct OneShotRead<Value: Decodable & Sendable>: OfflinePostgrestFilterBuilder {
    /// The request this read sends.
    public var request: TableRequest
    private let services: @Sendable () throws(SyncError) -> ReadServices
    private let readStrategy: ReadStrategy

    package init(
        request: TableRequest, readStrategy: ReadStrategy,
        services: @escaping @Sendable () throws(SyncError) -> ReadServices
    ) {
        self.services = services
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
        let services = try services()
        let snapshot = try await services.oneShot.readOnce(request, strategy: readStrategy)
        return try SnapshotDecoder<Value>(table: request.table, log: services.log).decode(snapshot)
    }
}
