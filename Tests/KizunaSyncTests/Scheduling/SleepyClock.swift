import KizunaCore
import Synchronization

/// The clock of a device that can sleep: time goes on, but what falls due meanwhile happens when it wakes up.
final class SleepyClock: SyncClock {
    private struct State {
        var isAsleep = false
        var due: [@Sendable () -> Void] = []
    }

    private let base: any SyncClock
    private let state = Mutex(State())

    init(_ base: any SyncClock) { self.base = base }

    var now: MonotonicInstant { base.now }

    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> TimerTicket {
        let isCancelled = Mutex(false)
        let fire: @Sendable () -> Void = { if !isCancelled.withLock({ $0 }) { body() } }
        let ticket = base.schedule(after: delay) { [self] in
            let isAsleep = state.withLock { state in
                if state.isAsleep { state.due.append(fire) }
                return state.isAsleep
            }
            if !isAsleep { fire() }
        }
        return TimerTicket {
            isCancelled.withLock { $0 = true }
            ticket.cancel()
        }
    }

    func sleep() { state.withLock { $0.isAsleep = true } }

    func wakeUp() {
        let due = state.withLock { state in
            defer { state = State() }
            return state.due
        }
        for each in due { each() }
    }
}
