internal import KizunaCore
internal import Synchronization

/// The one-shot reads that are under way, so that a client that closes lets them end: with their answer, with what is
/// stored, or with `closed`, never with a cancellation (docs/spec/reads.md, Closing).
final class CallsInProgress: Sendable {
    private struct State {
        var isClosing = false
        var isOver = false
        var count = 0
        /// Opens for each call that waits for the server, once it is not to wait any longer.
        var waits: [Int: AsyncGate] = [:]
        var lastWait = 0
    }

    private let state = Mutex(State())
    private let allEnded = AsyncGate()

    static let closed = SyncError(.closed, "The client was closed before the server answered.")

    var isClosing: Bool { state.withLock { $0.isClosing } }

    /// Runs a call; throws `closed` where none may begin any more.
    func run<Response>(_ call: () async throws -> Response) async throws -> Response {
        let mayBegin = state.withLock { state in
            guard !state.isClosing else { return false }
            state.count += 1
            return true
        }
        guard mayBegin else { throw Self.closed }
        defer { ended() }
        return try await call()
    }

    private func ended() {
        let isLast = state.withLock { state in
            state.count -= 1
            return state.isClosing && state.count == 0
        }
        if isLast { allEnded.open() }
    }

    /// Does the part of a call that asks the server; throws `closed` once it has waited long enough.
    func asking<Response: Sendable>(_ ask: @escaping @Sendable () async throws -> Response) async throws -> Response {
        let gate = AsyncGate()
        let id = state.withLock { state in
            state.lastWait += 1
            state.waits[state.lastWait] = gate
            if state.isOver { gate.open() }
            return state.lastWait
        }
        defer { state.withLock { $0.waits[id] = nil } }
        return try await withThrowingTaskGroup(of: Response?.self) { group in
            group.addTask { try await ask() }
            group.addTask {
                await gate.wait()
                return nil
            }
            defer {
                gate.open()
                group.cancelAll()
            }
            guard let response = try await group.next() ?? nil else { throw Self.closed }
            return response
        }
    }

    /// From now on no call begins.
    func beginClosing() {
        let isIdle = state.withLock { state in
            state.isClosing = true
            return state.count == 0
        }
        if isIdle { allEnded.open() }
    }

    /// Returns when all calls have ended; those that still wait for the server when the time is up wait no longer.
    func end(within limit: Duration, clock: any SyncClock) async {
        let timer = clock.schedule(after: limit) { [self] in giveUp() }
        defer { timer.cancel() }
        await allEnded.wait()
    }

    private func giveUp() {
        let waits = state.withLock { state in
            state.isOver = true
            return state.waits.values
        }
        for gate in waits { gate.open() }
    }
}
