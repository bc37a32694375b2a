internal import KizunaCore

// Types of the machine's state.

extension SchedulerMachine {
    /// The current step of an attempt.
    enum Step: Sendable, Equatable { case refreshing, syncing, checking }

    /// The outcome of an attempt so far.
    enum Outcome: Sendable, Equatable {
        /// At the end of the attempt: skipped, without a session.
        case none
        case succeeded
        case failed(SchedulerFailure)
        /// Failed at the deadline, and counted there.
        case overdue
        /// Cancelled from outside; its error is not counted.
        case calledOff
    }

    /// The attempt that runs.
    struct Attempt: Sendable {
        let id: Int
        let startedAt: MonotonicInstant
        /// Whether it pulls, besides sending mutations.
        let asksReads: Bool
        var step = Step.refreshing
        var outcome = Outcome.none
        /// Polls that found this attempt in the slot since the last other wake.
        var ticks = 0
        var isStalled = false
        var stallTimer: Int?
        var deadlineTimer: Int?
        var waiters: [Int]
    }

    /// How soon a requested run may start; a later case has priority over an earlier one.
    enum Urgency: Int, Sendable {
        /// Waits for the floor and the path window: a path that returned too often to start a run at once.
        case paced
        /// Waits for the floor: local writes and doorbells.
        case gentle
        /// Waits only for a Retry-After: a path that returned, the trailing run after a stall.
        case prompt
        case urgent
    }

    /// The subscription to the client's events.
    enum Subscription: Sendable, Equatable {
        case none
        case pending(Int)
        case active(Int)
        case rejected
    }
}
