package import KizunaCore
internal import Synchronization

/// Gives callers the open store and the credentials of its owner, and lets them wait for both.
package final class OwnerAccess: Sendable {
    private enum Condition: Hashable {
        case sessionIsSettled
        case storeIsOpen
    }

    private struct State {
        var gates: [Condition: [Int: AsyncGate]] = [:]
        var lastGate = 0
        var storeFailure: SyncError?
        var isClosed = false
    }

    private let runner: OwnerRunner
    private let environment: SyncEnvironment
    private let state = Mutex(State())

    package init(runner: OwnerRunner, environment: SyncEnvironment) {
        self.runner = runner
        self.environment = environment
    }

    // MARK: - The store

    /// The open store; nil while the owner is changing.
    package var openHandle: OwnerStoreHandle? { runner.handle }

    /// Whether this is the generation of the open store.
    package func isCurrent(_ generation: Int) -> Bool { runner.handle?.generation == generation }

    package var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Waits for the open store while the owner is changing.
    ///
    /// A store that could not be opened is tried once more: the disk may have space again, or another process may have
    /// ended.
    package func handle() async throws -> OwnerStoreHandle {
        var hasTried = false
        while true {
            let (isClosed, failure) = state.withLock { ($0.isClosed, $0.storeFailure) }
            guard !isClosed else { throw Self.closed }
            if let handle = openHandle { return handle }
            if let failure {
                guard !hasTried else { throw failure }
                hasTried = true
                runner.retryOpeningStore()
                continue
            }
            try await wait(for: .storeIsOpen, unless: { self.openHandle != nil })
        }
    }

    /// Starts another attempt to open the store when the last one failed.
    package func retryOpeningFailedStore() {
        if state.withLock({ $0.storeFailure != nil }) { runner.retryOpeningStore() }
    }

    package func ownerIsChanging() { state.withLock { $0.storeFailure = nil } }

    package func storeOpened() { open(.storeIsOpen) }

    package func storeFailed(_ error: SyncError) {
        state.withLock { $0.storeFailure = error }
        open(.storeIsOpen)
    }

    // MARK: - The session

    package var isSessionSettled: Bool { runner.credentials.isSettled }

    /// Credentials for a request of this owner generation.
    package func credentials(generation: Int) -> Credentials { runner.credentials(generation: generation) }

    /// Reports a token that the server did not accept.
    package func tokenRejected(_ token: String) { runner.tokenRejected(token) }

    /// Waits until the session has settled, at most for `limit`. Returns whether it has.
    package func settled(within limit: Duration) async throws -> Bool {
        try await wait(for: .sessionIsSettled, within: limit, unless: { isSessionSettled })
        return isSessionSettled
    }

    /// Ends the waits for the session. Called when it has settled, and when the client closes.
    package func endSessionWaits() { open(.sessionIsSettled) }

    // MARK: - Waiting

    /// Ends every wait; from now on `handle()` throws `closed`.
    package func close() {
        let gates = state.withLock { state in
            defer { state = State(isClosed: true) }
            return state.gates.values.flatMap(\.values)
        }
        for gate in gates { gate.open() }
    }

    private static var closed: SyncError { SyncError(.closed, "The client is closed.") }

    private func open(_ condition: Condition) {
        let gates = state.withLock { $0.gates.removeValue(forKey: condition) ?? [:] }
        for gate in gates.values { gate.open() }
    }

    /// Waits for a condition, at most for `limit`. `isMet` is asked after the gate is registered, so that no opening is
    /// missed.
    private func wait(for condition: Condition, within limit: Duration? = nil, unless isMet: () -> Bool) async throws {
        let gate = AsyncGate()
        let id = try register(gate, condition)
        defer { state.withLock { $0.gates[condition]?[id] = nil } }
        guard !isMet() else { return }
        let timer = limit.map { environment.clock.schedule(after: $0) { gate.open() } }
        defer { timer?.cancel() }
        await withTaskCancellationHandler {
            await gate.wait()
        } onCancel: {
            gate.open()
        }
        try Task.checkCancellation()
    }

    private func register(_ gate: AsyncGate, _ condition: Condition) throws(SyncError) -> Int {
        let id = state.withLock { state -> Int? in
            guard !state.isClosed else { return nil }
            state.lastGate += 1
            state.gates[condition, default: [:]][state.lastGate] = gate
            return state.lastGate
        }
        guard let id else { throw Self.closed }
        return id
    }
}
