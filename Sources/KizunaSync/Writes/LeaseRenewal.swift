internal import KizunaCore
internal import KizunaStore
internal import Synchronization

/// Makes the lease of the queue longer while requests are out, and tells whether one may still leave.
final class LeaseRenewal: Sendable {
    private struct State {
        /// The last moment at which a request may leave; nil where the store is not shared.
        var until: Duration?
        var requests = 0
        var timer: TimerTicket?
        var hasEnded = false
    }

    private let store: OwnerStore
    private let environment: SyncEnvironment
    private let state = Mutex(State())

    init(store: OwnerStore, environment: SyncEnvironment) {
        self.store = store
        self.environment = environment
    }

    /// The last moment at which a request may leave, by the machine's clock.
    var until: Duration? { state.withLock { $0.until } }

    /// Whether a request may leave now.
    var isHeld: Bool {
        until.map { environment.host.sinceBoot() < $0 } ?? true
    }

    /// A send was noted, and its request may leave before `until`.
    func began(until: Duration?) {
        state.withLock { state in
            state.requests += 1
            state.until = until
            if until != nil { schedule(&state) }
        }
    }

    /// A send has come to its end, whatever it was.
    func ended() { state.withLock { $0.requests -= 1 } }

    /// Nothing is sent any more.
    func end() {
        state.withLock { state in
            state.hasEnded = true
            state.timer?.cancel()
            state.timer = nil
        }
    }

    /// One timer runs at a time; sends that end before it fires cost nothing.
    private func schedule(_ state: inout State) {
        guard state.timer == nil, !state.hasEnded else { return }
        state.timer = environment.clock.schedule(after: store.leaseLength / 3) { [weak self] in self?.fired() }
    }

    private func fired() {
        let isNeeded = state.withLock { state in
            state.timer = nil
            return state.requests > 0 && !state.hasEnded
        }
        guard isNeeded else { return }
        environment.spawn { [self] in
            do {
                guard let until = try await store.renewLease() else { return }
                state.withLock { state in
                    state.until = until
                    if state.requests > 0 { schedule(&state) }
                }
            } catch {
                // Not renewed, it runs out: what is out is then another process's to repeat.
                environment.log.log(LogLine(.warning, "The turn to send could not be made longer"))
            }
        }
    }
}
