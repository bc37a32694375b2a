internal import KizunaCore
internal import Synchronization

/// Work that overlapping callers share: a piece runs once for all who ask for it while it runs, and is called off when the
/// last of them has gone before its end.
final class SingleFlight<Key: Hashable & Sendable>: Sendable {
    private struct Piece {
        let id: Int
        var ticket: TaskTicket?
        var waiters: [Int: LatestValueChannel<Void>] = [:]
    }

    private struct State {
        var pieces: [Key: Piece] = [:]
        var lastID = 0
    }

    private let environment: SyncEnvironment
    private let state = Mutex(State())

    init(in environment: SyncEnvironment) { self.environment = environment }

    /// Returns or throws as the piece of this key does, which is started where none runs. Throws `CancellationError` when
    /// the calling task is cancelled; the others then go on waiting.
    func run(_ key: Key, _ body: @escaping @Sendable () async throws -> Void) async throws {
        let channel = LatestValueChannel<Void>()
        let (piece, waiter, isFirst) = state.withLock { state in
            state.lastID += 1
            let waiter = state.lastID
            let isFirst = state.pieces[key] == nil
            state.pieces[key, default: Piece(id: waiter)].waiters[waiter] = channel
            return (state.pieces[key]?.id ?? waiter, waiter, isFirst)
        }
        defer { leave(key, piece, waiter) }
        if isFirst { start(key, piece, body) }
        _ = try await channel.next()
    }

    private func start(_ key: Key, _ piece: Int, _ body: @escaping @Sendable () async throws -> Void) {
        let ticket = environment.spawn { [self] in
            let end: Result<Void, any Error>
            do {
                end = .success(try await body())
            } catch {
                end = .failure(error)
            }
            for waiter in take(key, piece) { waiter.finish(end) }
        }
        state.withLock { state in
            if state.pieces[key]?.id == piece { state.pieces[key]?.ticket = ticket }
        }
    }

    private func take(_ key: Key, _ piece: Int) -> [LatestValueChannel<Void>] {
        state.withLock { state in
            guard state.pieces[key]?.id == piece else { return [] }
            return (state.pieces.removeValue(forKey: key)?.waiters).map { Array($0.values) } ?? []
        }
    }

    private func leave(_ key: Key, _ piece: Int, _ waiter: Int) {
        let ticket = state.withLock { state -> TaskTicket? in
            guard state.pieces[key]?.id == piece else { return nil }
            state.pieces[key]?.waiters[waiter] = nil
            guard state.pieces[key]?.waiters.isEmpty == true else { return nil }
            return state.pieces.removeValue(forKey: key)?.ticket
        }
        ticket?.cancel()
    }
}
