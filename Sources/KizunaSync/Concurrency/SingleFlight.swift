internal import KizunaCore
internal import Synchronization

/// Lets overlapping callers share one run of the same work. The run is cancelled when the last caller is cancelled.
final class SingleFlight<Key: Hashable & Sendable>: Sendable {
    private struct Run {
        let id: Int
        var ticket: TaskTicket?
        var waiters: [Int: LatestValueChannel<Void>] = [:]
    }

    private struct State {
        var runs: [Key: Run] = [:]
        var lastID = 0
    }

    private let environment: SyncEnvironment
    private let state = Mutex(State())

    init(in environment: SyncEnvironment) { self.environment = environment }

    /// Returns or throws as the work of this key does; starts the work if none runs. Throws `CancellationError` when the
    /// calling task is cancelled; the other callers continue to wait.
    func run(_ key: Key, _ body: @escaping @Sendable () async throws -> Void) async throws {
        let channel = LatestValueChannel<Void>()
        let (run, waiter, isFirst) = state.withLock { state in
            state.lastID += 1
            let waiter = state.lastID
            let isFirst = state.runs[key] == nil
            state.runs[key, default: Run(id: waiter)].waiters[waiter] = channel
            return (state.runs[key]?.id ?? waiter, waiter, isFirst)
        }
        defer { leave(key, run, waiter) }
        if isFirst { start(key, run, body) }
        _ = try await channel.next()
    }

    private func start(_ key: Key, _ run: Int, _ body: @escaping @Sendable () async throws -> Void) {
        let ticket = environment.spawn { [self] in
            let end: Result<Void, any Error>
            do {
                end = .success(try await body())
            } catch {
                end = .failure(error)
            }
            for waiter in take(key, run) { waiter.finish(end) }
        }
        state.withLock { state in
            if state.runs[key]?.id == run { state.runs[key]?.ticket = ticket }
        }
    }

    private func take(_ key: Key, _ run: Int) -> [LatestValueChannel<Void>] {
        state.withLock { state in
            guard state.runs[key]?.id == run else { return [] }
            return (state.runs.removeValue(forKey: key)?.waiters).map { Array($0.values) } ?? []
        }
    }

    private func leave(_ key: Key, _ run: Int, _ waiter: Int) {
        let ticket = state.withLock { state -> TaskTicket? in
            guard state.runs[key]?.id == run else { return nil }
            state.runs[key]?.waiters[waiter] = nil
            guard state.runs[key]?.waiters.isEmpty == true else { return nil }
            return state.runs.removeValue(forKey: key)?.ticket
        }
        ticket?.cancel()
    }
}
