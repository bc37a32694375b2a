internal import Foundation
internal import KizunaCore
package import KizunaPostgREST
internal import KizunaStore

/// Answers one-shot reads: from the store, from the server, or from both, as the strategy of the read has it.
///
/// See docs/spec/reads.md, One-shot reads.
package final class OneShotReads: Sendable {
    private let context: RequestContext
    private let connectivity: Connectivity
    private let calls: CallsInProgress

    init(context: RequestContext, connectivity: Connectivity, calls: CallsInProgress) {
        self.context = context
        self.connectivity = connectivity
        self.calls = calls
    }

    /// Reads once. A call that is under way when the client closes ends as `CallsInProgress` says.
    package func readOnce(_ request: TableRequest, strategy: ReadStrategy) async throws -> RawSnapshot {
        try await calls.run { try await answered(request, strategy) }
    }

    private func answered(_ request: TableRequest, _ strategy: ReadStrategy) async throws -> RawSnapshot {
        guard request.isCacheable else {
            return try await calls.asking { [self] in
                try await passedThrough(request, isAllowed: strategy != .cacheOnly)
            }
        }
        switch strategy {
        case .cacheOnly:
            return try await stored(request) ?? { throw nothingCached(request) }()
        case .cacheFirst:
            if let snapshot = try await stored(request), snapshot.fetchedAt != nil { return snapshot }
            return try await asked(request)
        case .networkFirst:
            // Known down: the cached rows at once, without an attempt that may hang.
            if !connectivity.network.isPathUp, let snapshot = try await stored(request), snapshot.fetchedAt != nil {
                return snapshot
            }
            do {
                return try await asked(request)
            } catch let error as SyncError where error.isReasonForCache {
                guard let snapshot = try await stored(request), snapshot.fetchedAt != nil else { throw error }
                return snapshot
            }
        case .networkOnly: return try await asked(request)
        }
    }

    private func asked(_ request: TableRequest) async throws -> RawSnapshot {
        try await calls.asking { [self] in try await fetched(request) }
    }

    private func nothingCached(_ request: TableRequest) -> SyncError {
        SyncError(
            .cacheMiss, "Nothing is stored for this read; read it once with the network, or use another strategy.",
            table: request.table)
    }

    // MARK: - The device

    /// What the device has, with the overlay; nil while nothing is known.
    private func stored(_ request: TableRequest) async throws -> RawSnapshot? {
        let read = try await read(request)
        let snapshot = read.snapshot(refresh: .idle, isCacheOnly: true)
        return snapshot.rows == nil ? nil : snapshot
    }

    private func read(_ request: TableRequest) async throws -> LiveReadMachine {
        let (image, shape) = try await image(request)
        var read = LiveReadMachine(shape: shape, cacheKey: request.cacheKey) { [schemas = context.schemas] in
            schemas[$0]
        }
        read.loaded(image)
        return read
    }

    private func embedding(_ request: TableRequest) -> (@Sendable (TableID) -> Bool)? {
        let embedded = EmbeddedTables(request) { [schemas = context.schemas] in schemas[$0] }
        return embedded.isEmpty ? nil : embedded.mayShow
    }

    private func image(_ request: TableRequest) async throws -> (CachedQuerySnapshot, QueryShape) {
        let handle = try await context.owners.handle()
        let schema = context.schemas[TableID(schema: request.schema, name: request.table)]
        let shape = QueryShape(request: request, types: schema.types, keyColumns: schema.keyColumns)
        let image = try await handle.store.image(
            cacheKey: request.cacheKey, table: shape.table, embedding: embedding(request),
            usedAt: context.environment.wallClock())
        return (image, shape)
    }

    // MARK: - The server

    /// What became of a question to the server.
    package enum FetchOutcome {
        case stored
        /// Local data was cleared after the request left, so its response was dropped.
        case cleared
        /// An empty response that is not trusted from an anonymous session.
        case untrusted
    }

    /// Asks the server until its answer is stored, or is not to be; one that says it is busy is asked again in this call
    /// where that is wanted.
    func ask(_ request: TableRequest, repeatsWhenBusy: Bool = true) async throws -> FetchOutcome {
        var gateway = context.gateway
        if !repeatsWhenBusy { gateway.busyWaits = [] }
        var rejections = 0
        while true {
            let (outcome, generation) = try await asking(request) { [self, gateway] handle in
                let outcome = try await ReadExchange.run(
                    request, cacheKey: request.cacheKey, in: context, handle: handle, gateway: gateway,
                    recordTick: { _ in })
                return (outcome, handle.generation)
            }
            switch outcome {
            case .stored: return .stored
            case .outdated:
                // A former owner's store is cleared when it is left; then the question is the new owner's.
                guard try await context.owners.handle().generation != generation else { return .cleared }
            case .untrusted: return .untrusted
            case .unsettled: continue
            case .rejected:
                rejections += 1
                if rejections % 3 == 0 { try await context.environment.sleep(.milliseconds(300)) }
            }
        }
    }

    /// Asks the server, stores the answer, and gives what is then shown.
    private func fetched(_ request: TableRequest) async throws -> RawSnapshot {
        switch try await ask(request) {
        case .stored:
            let read = try await read(request)
            var snapshot = read.snapshot(refresh: .idle, isCacheOnly: true)
            guard snapshot.rows != nil else { throw cleared(request) }
            if let handle = context.owners.openHandle { await context.evictCachedQueries(handle) }
            snapshot.isFromCache = read.isBehind
            return snapshot
        case .cleared: throw cleared(request)
        case .untrusted: return try await untrusted(request)
        }
    }

    private func cleared(_ request: TableRequest) -> SyncError {
        SyncError(
            .cacheMiss, "Local data was cleared while the server was asked; its answer was dropped.",
            table: request.table)
    }

    /// An empty answer that is shown to this caller and not stored, with the queued writes it admits.
    private func untrusted(_ request: TableRequest) async throws -> RawSnapshot {
        let (image, shape) = try await image(request)
        var fold = OverlayFold(shape: shape, base: [], rowsInOtherLists: image.known)
        for entry in image.entries { fold.apply(entry) }
        return RawSnapshot(
            rows: fold.rows, isFromCache: false, fetchedAt: context.environment.wallClock(),
            hasPendingMutations: fold.hasPendingMutations, refresh: .idle, isComplete: false)
    }

    /// Sends a request of a shape the store cannot hold, and gives the answer as it is.
    private func passedThrough(_ request: TableRequest, isAllowed: Bool) async throws -> RawSnapshot {
        guard isAllowed else {
            throw SyncError(
                .cacheMiss, "Only lists of rows are stored: no single row, count, CSV or other shape.",
                table: request.table)
        }
        let (shaped, response) = try await asking(request) { [self] handle in
            let credentials = context.credentials(generation: handle.generation)
            do {
                let response = try await context.gateway.read(request, as: credentials)
                return (try ShapedResponse(response, to: request), Optional(response))
            } catch let failure as Gateway.ReadFailure where failure.isNoRow(of: request) {
                return (.nothing, nil)
            }
        }
        return RawSnapshot(
            response: shaped, count: request.count == nil ? nil : response.flatMap(ResponseRows.total),
            fetchedAt: context.environment.wallClock())
    }

    /// Does something that needs the server: once the session has settled, and once more with a fresh token where the
    /// first one was not accepted, or where the owner changed meanwhile.
    private func asking<Response: Sendable>(
        _ request: TableRequest, _ body: @Sendable (OwnerStoreHandle) async throws -> Response
    ) async throws -> Response {
        var hasBeenRejected = false
        while true {
            guard connectivity.network.isEnabled else {
                throw SyncError(
                    .networkDisabled, "The network is switched off; nothing was sent.", table: request.table)
            }
            try await waitForSession(request)
            let handle = try await context.owners.handle()
            do {
                return try await body(handle)
            } catch let failure as Gateway.ReadFailure {
                guard let token = failure.rejectedToken else { throw failure.error }
                context.tokenRejected(token)
                guard !hasBeenRejected else { throw failure.error }
                hasBeenRejected = true
            } catch let error as SyncError where error.code == .closed && !context.owners.isClosed {
                // The owner changed and its store was closed: ask again as the new one.
                try Task.checkCancellation()
            }
        }
    }

    private func waitForSession(_ request: TableRequest) async throws {
        guard !context.owners.isSessionSettled else { return }
        guard try await context.owners.settled(within: RequestContext.sessionWait) else {
            if calls.isClosing { throw CallsInProgress.closed }
            throw SyncError(
                .sessionNotSettled, "The session did not settle in time; nothing was sent.", table: request.table)
        }
    }
}
