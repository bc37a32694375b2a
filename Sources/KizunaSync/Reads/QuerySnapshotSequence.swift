internal import KizunaCore
public import KizunaPostgREST

/// A live read as a value: add filters to it, then iterate it; each iteration is a collection of its own.
///
/// Nothing is asked or read before the first element is awaited. Iterations of one `cacheFirstThenNetwork` query share one
/// subscription to the store and one refresh. A slow reader gets the newest snapshot, never a backlog.
///
/// See docs/spec/reads.md, Live reads.
public struct QuerySnapshotSequence<Value: Decodable & Sendable>: AsyncSequence, OfflinePostgrestFilterBuilder {
    /// One emission.
    public typealias Element = QuerySnapshot<Value>

    /// The request this sequence reads.
    public var request: TableRequest
    private let services: @Sendable () throws(SyncError) -> ReadServices
    private let readStrategy: SequenceReadStrategy

    package init(
        request: TableRequest, readStrategy: SequenceReadStrategy,
        services: @escaping @Sendable () throws(SyncError) -> ReadServices
    ) {
        self.services = services
        self.request = request
        self.readStrategy = readStrategy
    }

    /// Starts a collection with its first `next()`.
    public func makeAsyncIterator() -> Iterator {
        Iterator(request: request, readStrategy: readStrategy, services: services)
    }

    /// One collection. Not to be shared between tasks.
    public final class Iterator: AsyncIteratorProtocol {
        private enum Phase {
            case fresh
            case running(Running)
            case ended
        }

        private struct Running {
            let reads: LiveReads
            let member: LiveReadRegistry.Membership
            let decoder: SnapshotDecoder<Value>
        }

        private let services: @Sendable () throws(SyncError) -> ReadServices
        private let request: TableRequest
        private let readStrategy: SequenceReadStrategy
        private var phase = Phase.fresh

        init(
            request: TableRequest, readStrategy: SequenceReadStrategy,
            services: @escaping @Sendable () throws(SyncError) -> ReadServices
        ) {
            self.services = services
            self.request = request
            self.readStrategy = readStrategy
        }

        deinit { leave() }

        /// The next snapshot; nil when the client has closed, and after the end.
        ///
        /// A request whose answer cannot be stored (one row, a count, CSV) gives the server's answer once, then nil.
        ///
        /// - Throws: `SyncError` for a failure the read cannot recover from (a row that does not decode, a store that
        ///   cannot be read, the client closed before the iteration began); `CancellationError` when the calling task is
        ///   cancelled. A refresh that fails is none: it is told in `refresh`. Either ends the iteration.
        public func next() async throws -> QuerySnapshot<Value>? {
            do {
                switch phase {
                case .ended: return nil
                case .running(let running): return try await next(running)
                case .fresh:
                    let services = try services()
                    guard request.isCacheable else {
                        phase = .ended
                        return try await response(services)
                    }
                    let running = try start(services)
                    phase = .running(running)
                    return try await next(running)
                }
            } catch {
                leave()
                throw error
            }
        }

        private func next(_ running: Running) async throws -> QuerySnapshot<Value>? {
            guard let snapshot = try await running.member.channel.next() else {
                leave()
                return nil
            }
            return try running.decoder.decode(snapshot)
        }

        /// The server's answer of a shape the store cannot hold; nil when the client closed meanwhile.
        private func response(_ services: ReadServices) async throws -> QuerySnapshot<Value>? {
            do {
                // As a one-shot read of it, also when the client closes meanwhile.
                let snapshot = try await services.oneShot.readOnce(
                    request, strategy: readStrategy == .cacheOnly ? .cacheOnly : .networkOnly)
                return try SnapshotDecoder<Value>(table: request.table, log: services.log).decode(snapshot)
            } catch let error as SyncError where error.code == .closed {
                return nil
            }
        }

        private func start(_ services: ReadServices) throws -> Running {
            Running(
                reads: services.live, member: try services.live.join(request, strategy: readStrategy),
                decoder: SnapshotDecoder(table: request.table, log: services.log, shared: services.decodedRows))
        }

        private func leave() {
            if case .running(let running) = phase { running.reads.leave(running.member) }
            phase = .ended
        }
    }
}
