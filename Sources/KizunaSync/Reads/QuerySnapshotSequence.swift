internal import KizunaCore
public import KizunaPostgREST

/// A live read as a value: add filters to it, then iterate it; each iteration is a collection of its own.
///
/// Nothing is asked or read before the first element is awaited. Iterations of one `cacheFirstThenNetwork` query share one
/// subscription to the store and one refresh. A slow reader gets the newest snapshot, never a backlog.
///
/// Source: seed "Reactive reads".
public struct QuerySnapshotSequence<Value: Decodable & Sendable>: AsyncSequence, OfflinePostgrestFilterBuilder {
    /// One emission.
    public typealias Element = QuerySnapshot<Value>

    /// The request this sequence reads.
    public var request: TableRequest
    private let client: KizunaSyncClient
    private let readStrategy: SequenceReadStrategy

    package init(client: KizunaSyncClient, request: TableRequest, readStrategy: SequenceReadStrategy) {
        self.client = client
        self.request = request
        self.readStrategy = readStrategy
    }

    /// Starts a collection with its first `next()`.
    public func makeAsyncIterator() -> Iterator {
        Iterator(client: client, request: request, readStrategy: readStrategy)
    }

    /// One collection. Not to be shared between tasks.
    public final class Iterator: AsyncIteratorProtocol {
        private let client: KizunaSyncClient
        private let request: TableRequest
        private let readStrategy: SequenceReadStrategy
        private var running: Running?

        private struct Running {
            let engine: Engine
            let read: LiveReadRunner
            let id: Int
            let mailbox: LatestMailbox<RawSnapshot>
            let decoder: SnapshotDecoder<Value>
        }

        init(client: KizunaSyncClient, request: TableRequest, readStrategy: SequenceReadStrategy) {
            self.client = client
            self.request = request
            self.readStrategy = readStrategy
        }

        deinit {
            if let running { running.engine.leaveRead(running.read, id: running.id) }
        }

        /// The next snapshot; nil when the client has closed.
        ///
        /// - Throws: `SyncError` for a failure the read cannot recover from (a row that does not decode, a store that
        ///   cannot be read, the client closed before the iteration began); `CancellationError` when the calling task is
        ///   cancelled. A refresh that fails is none: it is told in `refresh`.
        public func next() async throws -> QuerySnapshot<Value>? {
            if running == nil { running = try start() }
            guard let running, let snapshot = try await running.mailbox.next() else { return nil }
            return try running.decoder.decode(snapshot)
        }

        private func start() throws -> Running {
            let engine = try client.engine()
            guard request.isCacheable else {
                throw SyncError(
                    .cacheMiss, "A live read needs a list of rows: no single row, count, csv or other shape.",
                    table: request.table)
            }
            let (read, id, mailbox) = try engine.joinRead(request, strategy: readStrategy)
            return Running(
                engine: engine, read: read, id: id, mailbox: mailbox,
                decoder: SnapshotDecoder(table: request.table, log: engine.environment.log))
        }
    }
}
