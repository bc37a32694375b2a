import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

/// The laws of timer sets and task sets.
@Suite struct TimerSetTests {
    /// Calls a hook in the middle of `schedule`, before the caller has the ticket.
    private final class HookedClock: SyncClock {
        let now = MonotonicInstant.zero
        private let hook = Mutex<(@Sendable (_ fire: @Sendable () -> Void) -> Void)?>(nil)
        let bodies = Mutex<[@Sendable () -> Void]>([])
        let cancelled = Mutex(0)

        func setHook(_ new: (@Sendable (_ fire: @Sendable () -> Void) -> Void)?) { hook.withLock { $0 = new } }

        func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> TimerTicket {
            bodies.withLock { $0.append(body) }
            hook.withLock { $0 }?(body)
            return TimerTicket { [self] in cancelled.withLock { $0 += 1 } }
        }

        /// Fires timer `index` as a clock does that noticed its cancellation too late.
        func fire(_ index: Int) { bodies.withLock { $0[index] }() }
    }

    private let clock = HookedClock()
    private let fired = Recorder()

    private final class Recorder: Sendable {
        private let values = Mutex<[Int]>([])
        var all: [Int] { values.withLock { $0 } }
        func add(_ value: Int) { values.withLock { $0.append(value) } }
    }

    @Test func timerThatFiresBeforeItsTicketIsStoredLeavesNoEntry() {
        let timers = TimerSet(clock: clock)
        clock.setHook { fire in fire() }
        timers.start(1, after: .zero) { [fired] in fired.add(1) }
        #expect(fired.all == [1])
        #expect(timers.count == 0)
        #expect(clock.cancelled.withLock { $0 } == 0)
    }

    @Test func timerCancelledBeforeItsTicketIsStoredIsCancelledOnTheClock() {
        let timers = TimerSet(clock: clock)
        clock.setHook { _ in timers.cancel(1) }
        timers.start(1, after: .seconds(1)) { [fired] in fired.add(1) }
        #expect(timers.count == 0)
        #expect(clock.cancelled.withLock { $0 } == 1)
        clock.fire(0)
        #expect(fired.all == [])
    }

    @Test func timerFiresOnceAndNeverAfterItsCancellation() {
        let timers = TimerSet(clock: clock)
        timers.start(1, after: .seconds(1)) { [fired] in fired.add(1) }
        timers.start(2, after: .seconds(1)) { [fired] in fired.add(2) }
        timers.cancel(2)
        for index in [0, 0, 1] { clock.fire(index) }
        #expect(fired.all == [1])
        #expect(timers.count == 0)
        #expect(clock.cancelled.withLock { $0 } == 1)
    }

    @Test func timerSetAgainUnderTheSameNumberReplacesTheEarlierOne() {
        let timers = TimerSet(clock: clock)
        timers.start(1, after: .seconds(1)) { [fired] in fired.add(1) }
        timers.start(1, after: .seconds(2)) { [fired] in fired.add(2) }
        #expect(clock.cancelled.withLock { $0 } == 1)
        clock.fire(0)
        #expect(timers.count == 1)
        clock.fire(1)
        #expect(fired.all == [2])
    }

    @Test func timerMaySetItselfAgainWhenItFiresBeforeItsTicketIsStored() {
        let timers = TimerSet(clock: clock)
        clock.setHook { [clock] fire in
            clock.setHook(nil)
            fire()
        }
        timers.start(1, after: .zero) { [fired] in
            timers.start(1, after: .seconds(1)) { fired.add(2) }
        }
        #expect(timers.count == 1)
        #expect(clock.cancelled.withLock { $0 } == 0)
        timers.cancelAll()
        #expect(timers.count == 0)
        #expect(clock.cancelled.withLock { $0 } == 1)
    }

    @Test func taskThatEndsLeavesNoEntryAndClosingCancelsTheOthers() throws {
        try Simulation.run { simulation in
            let tasks = TaskSet<String>(in: simulation.environment)
            let fired = fired
            tasks.start("ends") { fired.add(1) }
            await simulation.settle()
            #expect(tasks.count == 0)
            tasks.start("waits") {
                do {
                    try await simulation.environment.sleep(.seconds(60))
                    fired.add(2)
                } catch {
                    fired.add(3)
                }
            }
            await simulation.settle()
            #expect(tasks.count == 1)
            tasks.close()
            await simulation.settle()
            tasks.start("late") { fired.add(4) }
            await simulation.settle()
            #expect(fired.all == [1, 3])
            #expect(tasks.count == 0)
        }
    }
}
