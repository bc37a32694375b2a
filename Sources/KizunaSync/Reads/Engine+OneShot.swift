internal import KizunaCore
package import KizunaPostgREST
internal import KizunaStore

// One-shot reads (spec reads §4): where the rows come from, and what happens when the server cannot be asked.

extension Engine {
    private static let sessionWait = Duration.seconds(10)

    package func readOnce(_ request: TableRequest, strategy: ReadStrategy) async throws -> RawSnapshot {
        guard request.isCacheable else {
            throw SyncError(
                .cacheMiss, "This read needs a list of rows: no single row, count, csv or other shape.",
                table: request.table)
        }
        switch strategy {
        case .cacheOnly:
            return try await stored(request) ?? { throw nothingCached(request) }()
        case .cacheFirst:
            if let snapshot = try await stored(request) { return snapshot }
            return try await fetched(request)
        case .networkFirst:
            do {
                return try await fetched(request)
            } catch let error as SyncError where error.isReasonForCache {
                guard let snapshot = try await stored(request), snapshot.fetchedAt != nil else { throw error }
                return snapshot
            }
        case .networkOnly: return try await fetched(request)
        }
    }

    private func nothingCached(_ request: TableRequest) -> SyncError {
        SyncError(
            .cacheMiss, "Nothing is stored for this read; read it once with the network, or use another strategy.",
            table: request.table)
    }

    /// What the device has, with the overlay; nil while nothing is known.
    private func stored(_ request: TableRequest) async throws -> RawSnapshot? {
        let handle = try await handle()
        let facts = tables(TableID(schema: request.schema, name: request.table))
        let shape = ListShape(request: request, types: facts.types, keyColumns: facts.keyColumns)
        let image = try await handle.vault.image(
            cacheKey: request.cacheKey, table: shape.table, usedAt: environment.wallClock())
        var read = LiveReadMachine(shape: shape, cacheKey: request.cacheKey)
        read.loaded(image)
        let snapshot = read.snapshot(refresh: .idle, isCacheOnly: true)
        return snapshot.rows == nil ? nil : snapshot
    }

    /// Asks the server, stores the answer, and gives what is then shown.
    private func fetched(_ request: TableRequest) async throws -> RawSnapshot {
        guard connectivity.network.isEnabled else {
            throw SyncError(.networkDisabled, "The network is switched off; nothing was sent.", table: request.table)
        }
        var refusals = 0
        while true {
            try await waitForSession(request)
            let handle = try await handle()
            do {
                let outcome = try await ReadExchange.run(
                    request, cacheKey: request.cacheKey, in: self, handle: handle, noteTick: { _ in })
                switch outcome {
                case .stored, .outdated: break
                case .untrusted: return emptyAnswer
                case .refused where refusals < 3:
                    refusals += 1
                    continue
                case .refused:
                    try await environment.sleep(.milliseconds(300))
                    refusals = 0
                    continue
                }
            } catch let failure as Gateway.ReadFailure {
                if let token = failure.rejectedToken { tokenRejected(token) }
                throw failure.error
            }
            guard var snapshot = try await stored(request) else { throw nothingCached(request) }
            snapshot.isFromCache = false
            return snapshot
        }
    }

    private var emptyAnswer: RawSnapshot {
        RawSnapshot(
            rows: [], isFromCache: false, fetchedAt: environment.wallClock(), hasPendingMutations: false,
            refresh: .idle, isComplete: true)
    }

    private func waitForSession(_ request: TableRequest) async throws {
        guard !isSessionSettled else { return }
        guard try await settled(within: Self.sessionWait) else {
            throw SyncError(
                .sessionNotSettled, "The session did not settle in time; nothing was sent.", table: request.table)
        }
    }
}

extension SyncError {
    /// Whether a read that may fall back on the cache does so for this error.
    var isReasonForCache: Bool {
        switch code {
        case .connectivity, .networkDisabled, .sessionNotSettled: true
        default: false
        }
    }
}
