internal import KizunaCore
internal import KizunaPostgREST

// What a run of `sync()` does for live reads: each query that is iterated is asked again, once.

extension Engine {
    /// A question that overlapping runs share.
    struct Question: Hashable {
        let generation: Int
        let cacheKey: String
    }

    private typealias Piece = @Sendable () async throws -> Void

    /// No more requests than this are out for one run.
    private static let questionsAtOnce = 6

    /// Sends what waits, then asks the server for every query that is iterated. Returns when all of it is done.
    ///
    /// A read that is up to date goes on reading so while it is asked again, and when that fails: the failure is this
    /// call's. A refresh of its own that a read has under way is waited for instead. A call that asks for no reads only
    /// sends, and hurries the reads that wait.
    package func sync(asksReads: Bool = true) async throws {
        _ = try await handle()
        let refreshing = askingReads.filter(\.isRefreshing)
        for read in refreshing { read.hurry(isAppsWish: false) }
        try await drain()
        if asksReads { try await pull(besides: Set(refreshing.map(\.cacheKey))) }
    }

    /// Asks for what is iterated; one answer is enough for queries that were being refreshed when the run began.
    private func pull(besides refreshing: Set<String>) async throws {
        let reads = askingReads
        guard !reads.isEmpty else { return }
        let generation = try await handle().generation
        var waits: [Piece] = []
        var questions: [Piece] = []
        for (key, readers) in Dictionary(grouping: reads, by: \.cacheKey).sorted(by: { $0.key < $1.key }) {
            if refreshing.contains(key) || readers.contains(where: \.isRefreshing) {
                waits += readers.map { read in { try await read.untilAnswered() } }
            } else if let request = readers.first?.request {
                questions.append { [self] in
                    try await self.questions.run(Question(generation: generation, cacheKey: key)) { [self] in
                        try await askAgain(request)
                    }
                }
            }
        }
        try await run(waits, and: questions)
    }

    /// Live reads that ask the server at all.
    private var askingReads: [LiveReadRunner] { liveReads.filter { $0.strategy != .cacheOnly } }

    private func askAgain(_ request: TableRequest) async throws {
        guard isSessionSettled else {
            throw SyncError(
                .sessionNotSettled, "There is no token of the store's user; nothing was sent.", table: request.table)
        }
        // The next run is the repeat. What was cleared meanwhile, its reads ask for by themselves.
        if try await ask(request, repeatsWhenBusy: false) == .stored, let handle = openHandle {
            await listStored(in: handle)
        }
    }

    /// Waits and asks; throws the first failure. The first question goes alone, so that a server in trouble is not asked
    /// many at once. A failure that the next question would meet too ends the run; any other is its own query's alone.
    private func run(_ waits: [Piece], and questions: [Piece]) async throws {
        let failure = await withTaskGroup(of: (Bool, (any Error)?).self) { group -> (any Error)? in
            func add(_ piece: @escaping Piece, isQuestion: Bool) {
                group.addTask {
                    do {
                        try await piece()
                        return (isQuestion, nil)
                    } catch {
                        return (isQuestion, error)
                    }
                }
            }
            for wait in waits { add(wait, isQuestion: false) }
            var rest = questions[...]
            if let first = rest.popFirst() { add(first, isQuestion: true) }
            var out = 1
            var failure: (any Error)?
            for await (isQuestion, error) in group {
                failure = failure ?? error
                if let error, (error as? SyncError)?.isRetryable ?? true {
                    rest = []
                    group.cancelAll()
                }
                guard isQuestion else { continue }
                out -= 1
                while out < Self.questionsAtOnce, let next = rest.popFirst() {
                    add(next, isQuestion: true)
                    out += 1
                }
            }
            return failure
        }
        try Task.checkCancellation()
        if let failure { throw failure }
    }
}
