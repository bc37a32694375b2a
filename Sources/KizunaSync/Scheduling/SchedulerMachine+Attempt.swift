internal import KizunaCore

// What the machine keeps of an attempt and of what waits for one.

extension SchedulerMachine {
    /// Where an attempt stands.
    enum Step: Sendable, Equatable { case refreshing, syncing, checking }

    /// What has become of an attempt so far.
    enum Outcome: Sendable, Equatable {
        /// At its end: skipped, for want of a session.
        case none
        case succeeded
        case failed(SchedulerFailure)
        /// Failed at the deadline, and counted there.
        case overdue
        /// Called off from outside; its error is not counted.
        case calledOff
    }

    /// The attempt that is out.
    struct Attempt: Sendable {
        let id: Int
        let startedAt: MonotonicInstant
        /// Whether it asks the server for what others changed, besides sending writes.
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

    /// How soon a run may start that was asked for; the later case goes before the earlier.
    enum Urgency: Int, Sendable {
        /// Waits for the floor and the path window: a path that came back more often than it may at once.
        case paced
        /// Waits for the floor: local writes and doorbells.
        case gentle
        /// Waits only where the server asked for it: a path that came back, the follow-up of a stall.
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
