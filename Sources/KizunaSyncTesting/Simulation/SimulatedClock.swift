package import KizunaCore
internal import Synchronization

/// A clock that only the simulation moves, from one timer to the next.
///
/// Timers fire in the order of their instants, and at one instant in the order in which they were set. A cancelled
/// timer does not move the clock.
public final class SimulatedClock: Sendable {
    private struct State {
        var now = MonotonicInstant.zero
        var timers = TimerQueue<@Sendable () -> Void>()
        var sleepers = TimerQueue<UnsafeContinuation<Void, Never>>()
        var hasEnded = false
    }

    private let state = Mutex(State())

    init() {}

    /// The virtual time since the simulation began.
    public var elapsed: Duration { state.withLock { $0.now.sinceOrigin } }

    /// Suspends the caller for this virtual time; it continues after all other jobs of that instant.
    func sleepLast(for duration: Duration) async {
        await withUnsafeContinuation { continuation in
            let hasEnded = state.withLock { state in
                guard !state.hasEnded else { return true }
                _ = state.sleepers.insert(continuation, at: state.now + max(duration, .zero))
                return false
            }
            if hasEnded { continuation.resume() }
        }
    }

    // MARK: - For the driver

    /// Fires the first due timer, or else wakes the first due sleeper; returns whether there was one.
    func fireNextDue() -> Bool {
        let due = state.withLock { state -> (@Sendable () -> Void)? in
            if let timer = state.timers.popFirst(notLaterThan: state.now) { return timer }
            if let sleeper = state.sleepers.popFirst(notLaterThan: state.now) { return { sleeper.resume() } }
            return nil
        }
        due?()
        return due != nil
    }

    /// Moves to the next instant with a timer or sleeper; returns false if there is none.
    func moveToNextInstant() -> Bool {
        state.withLock { state in
            guard let next = [state.timers.firstInstant, state.sleepers.firstInstant].compactMap({ $0 }).min() else {
                return false
            }
            state.now = next
            return true
        }
    }

    /// Removes all timers; later ones do not fire.
    func end() {
        state.withLock { state in
            state.hasEnded = true
            state.timers.removeAll()
            state.sleepers.removeAll()
        }
    }
}

extension SimulatedClock: SyncClock {
    package var now: MonotonicInstant { state.withLock { $0.now } }

    package func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> TimerTicket {
        let id = state.withLock { state -> UInt64? in
            state.hasEnded ? nil : state.timers.insert(body, at: state.now + max(delay, .zero))
        }
        guard let id else { return TimerTicket {} }
        return TimerTicket { [self] in state.withLock { $0.timers.remove(id: id) } }
    }
}
