package import KizunaCore

/// The timers of one machine, by number.
///
/// A timer fires at most once, and never after `cancel` has removed it. A timer that fires before its ticket is stored leaves
/// no entry behind.
package final class TimerSet: Sendable {
    private let clock: any SyncClock
    private let tickets = TicketTable<Int>()

    package init(clock: any SyncClock) { self.clock = clock }

    /// The number of timers that are set.
    package var count: Int { tickets.count }

    /// Sets a timer; a timer set under the same number is cancelled.
    package func start(_ timer: Int, after delay: Duration, _ fire: @escaping @Sendable () -> Void) {
        tickets.add(timer) { remove in
            let ticket = clock.schedule(after: delay) {
                if remove() { fire() }
            }
            return { ticket.cancel() }
        }
    }

    package func cancel(_ timer: Int) { tickets.cancel(timer) }

    package func cancelAll() { tickets.cancelAll() }
}
