internal import KizunaCore
internal import KizunaPostgREST

/// Fetches each query that is iterated as a live read again, once per run of `sync()`. Overlapping runs share a fetch.
package final class Pull: Sendable {
    /// What identifies a fetch that overlapping runs share.
    private struct Fetch: Hashable {
        let generation: Int
        let cacheKey: String
    }

    private typealias Piece = @Sendable () async throws -> Void

    /// The most requests in flight for one run.
    private static let maximumRequests = 6

    private let registry: LiveReadRegistry
    private let oneShot: OneShotReads
    private let context: RequestContext
    private let fetches: SingleFlight<Fetch>

    package init(registry: LiveReadRegistry, oneShot: OneShotReads, context: RequestContext) {
        self.registry = registry
        self.oneShot = oneShot
        self.context = context
        fetches = SingleFlight(in: context.environment)
    }

    /// The live reads whose own refresh is under way. Reads that never ask the server are none of them.
    package var refreshingReads: [LiveReadRunner] { fetchingReads.filter(\.isRefreshing) }

    /// Fetches what is iterated. A query in `refreshing` was being refreshed when the run began: its own response is
    /// waited for instead.
    package func run(besides refreshing: Set<String>) async throws {
        let reads = fetchingReads
        guard !reads.isEmpty else { return }
        let generation = try await context.owners.handle().generation
        var waits: [Piece] = []
        var requests: [Piece] = []
        for (key, readers) in Dictionary(grouping: reads, by: \.cacheKey).sorted(by: { $0.key < $1.key }) {
            if refreshing.contains(key) || readers.contains(where: \.isRefreshing) {
                waits += readers.map { read in { try await read.untilAnswered() } }
            } else if let request = readers.first?.request {
                requests.append { [self] in
                    try await fetches.run(Fetch(generation: generation, cacheKey: key)) { [self] in
                        try await fetch(request)
                    }
                }
            }
        }
        try await run(waits, and: requests)
    }

    private var fetchingReads: [LiveReadRunner] { registry.reads.filter { $0.strategy != .cacheOnly } }

    private func fetch(_ request: TableRequest) async throws {
        guard context.owners.isSessionSettled else {
            throw SyncError(
                .sessionNotSettled, "There is no token of the store's user; nothing was sent.", table: request.table)
        }
        // A busy server is asked again by the next run. After a clear the live reads refresh by themselves.
        if try await oneShot.ask(request, repeatsWhenBusy: false) == .stored, let handle = context.owners.openHandle {
            await context.evictCachedQueries(handle)
        }
    }

    /// Waits and fetches; throws the first failure. The first request goes alone, so that a server in trouble does not get
    /// many at once. A retryable failure ends the run, since the next request would fail too; any other concerns its own
    /// query alone.
    private func run(_ waits: [Piece], and requests: [Piece]) async throws {
        let failure = await withTaskGroup(of: (Bool, (any Error)?).self) { group -> (any Error)? in
            func add(_ piece: @escaping Piece, isRequest: Bool) {
                group.addTask {
                    do {
                        try await piece()
                        return (isRequest, nil)
                    } catch {
                        return (isRequest, error)
                    }
                }
            }
            for wait in waits { add(wait, isRequest: false) }
            var rest = requests[...]
            if let first = rest.popFirst() { add(first, isRequest: true) }
            var out = 1
            var failure: (any Error)?
            for await (isRequest, error) in group {
                failure = failure ?? error
                if let error, (error as? SyncError)?.isRetryable ?? true {
                    rest = []
                    group.cancelAll()
                }
                guard isRequest else { continue }
                out -= 1
                while out < Self.maximumRequests, let next = rest.popFirst() {
                    add(next, isRequest: true)
                    out += 1
                }
            }
            return failure
        }
        try Task.checkCancellation()
        if let failure { throw failure }
    }
}
