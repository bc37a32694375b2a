package import Foundation

/// Everything the engine takes from the outside world besides the network and the disk: time, randomness, ids,
/// where work runs, and where log lines go. Tests replace all of it at once, so the same seed gives the same run.
package struct SyncEnvironment: Sendable {
    package var clock: any SyncClock
    /// The device's wall clock; for display (`fetchedAt`) and minted keys only, never for order.
    package var wallClock: @Sendable () -> Date
    /// 64 random bits.
    package var random: @Sendable () -> UInt64
    package var log: any LogSink
    /// This process among those that may share its store.
    package var host: HostProcess
    /// Where spawned work runs; nil is the process's own pool.
    package var taskExecutor: (any TaskExecutor)?
    /// Where the blocking calls of a store run; nil means a queue of the store's own.
    package var storeExecutor: (any SerialExecutor)?

    package init(
        clock: any SyncClock, wallClock: @escaping @Sendable () -> Date, random: @escaping @Sendable () -> UInt64,
        log: any LogSink, host: HostProcess, taskExecutor: (any TaskExecutor)? = nil,
        storeExecutor: (any SerialExecutor)? = nil
    ) {
        self.clock = clock
        self.wallClock = wallClock
        self.random = random
        self.log = log
        self.host = host
        self.taskExecutor = taskExecutor
        self.storeExecutor = storeExecutor
    }

    /// A fraction of `[0, 1)` for jitter.
    package func randomFraction() -> Double {
        Double(random() >> 11) / Double(1 << 53)
    }
}

/// The monotonic clock and its timers.
package protocol SyncClock: Sendable {
    var now: MonotonicInstant { get }

    /// Calls `body` once, `delay` from now, unless the ticket is cancelled before.
    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> TimerTicket
}

/// A timer that can be called off. Cancelling twice, or after it fired, does nothing.
package struct TimerTicket: Sendable {
    private let onCancel: @Sendable () -> Void

    package init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

    package func cancel() { onCancel() }
}
