internal import KizunaCore
internal import KizunaStore
internal import Synchronization

/// Renews the lease of the queue while requests are in flight, and checks it before a request leaves.
final class LeaseRenewal: Sendable {
    private struct State {
        /// The end of the lease; nil when no other process uses the store.
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

    /// The end of the lease, in time since boot.
    var until: Duration? { state.withLock { $0.until } }

    /// Whether a request may leave now.
    var isHeld: Bool {
        until.map { environment.host.sinceBoot() < $0 } ?? true
    }

    /// A send is persisted; its request may leave before `until`.
    func began(until: Duration?) {
        state.withLock { state in
            state.requests += 1
            state.until = until
            if until != nil { schedule(&state) }
        }
    }

    /// A send has ended, with or without an outcome.
    func ended() { state.withLock { $0.requests -= 1 } }

    /// Stops the renewal.
    func end() {
        state.withLock { state in
            state.hasEnded = true
            state.timer?.cancel()
            state.timer = nil
        }
    }

    /// One timer serves all sends.
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
                // The lease expires. Another process then repeats the requests that are in flight.
                environment.log.log(LogLine(.warning, "Lease renewal failed"))
            }
        }
    }
}
