package import KizunaCore

extension SchedulerMachine {
    /// What the machine is told about its surroundings once, and what may change later.
    package struct Settings: Sendable, Equatable {
        /// Zero or less sets no timer.
        package var pollInterval: Duration = .seconds(15)
        package var monitorsPath = true
        /// How long a run may take before it is called off.
        package var runDeadline: Duration = .seconds(120)
        /// The age at which a run is called stalled; nil is two poll intervals, at least 30 s.
        package var stallAfter: Duration?
        package var hasPathMonitor = false
        package var hasForegroundSource = false
        package var hasRealtime = false
        package var readsReset = false

        package init() {}
    }

    /// How the refresh of the session went.
    package enum SessionOutcome: Sendable, Equatable {
        case ready
        /// There was none to run with; nothing is known of why.
        case rejected
        case signedOut
        case failed(SchedulerFailure)
    }

    package enum Event: Sendable {
        case started
        case stopped
        /// The app, or one of the ports, asked for a run.
        case woken(KizunaSyncScheduler.WakeReason)
        /// Somebody waits for the end of a run that begins now or after the one under way.
        case runAwaited(waiter: Int)
        /// The time for the run under way is up; it is called off and counts for nothing.
        case runCalledOff
        case pollIntervalSet(Duration)
        case refreshReplaced
        case monitorPathSet(Bool)
        case limitsSet(runDeadline: Duration, stallAfter: Duration?)
        case timerFired(timer: Int)
        /// A fraction of [0, 1) for the timer to be set.
        case jitterDrawn(arm: Int, Double)
        case pathReported(source: Int, isSatisfied: Bool)
        /// The gate, moved by hand.
        case pathForced(isSatisfied: Bool)
        case foregrounded(source: Int)
        case doorbellRang(source: Int)
        case subscribed(source: Int)
        case subscriptionRejected(source: Int, SchedulerFailure)
        case queueDepthChanged(source: Int, Int)
        /// The depth when the subscription began, which is no news of a write.
        case queueDepthRead(source: Int, Int)
        case engineReplaced(source: Int)
        case clientClosed(source: Int)
        case sessionRefreshed(attempt: Int, SessionOutcome)
        case synced(attempt: Int, SchedulerFailure?)
        case resetRead(attempt: Int, Bool)
    }

    package enum Effect: Sendable, Equatable {
        case startTimer(timer: Int, after: Duration)
        case cancelTimer(timer: Int)
        case drawJitter(arm: Int)
        case startPath(source: Int)
        case cancelPath
        case startForeground(source: Int)
        case stopForeground
        case subscribeRealtime(source: Int)
        case cancelRealtime
        case subscribe(source: Int)
        case unsubscribe(source: Int)
        case refreshSession(attempt: Int)
        /// Send writes, and where asked for, ask for what others changed.
        case sync(attempt: Int, asksReads: Bool)
        case readReset(attempt: Int)
        /// Call off whatever step of the attempt is out.
        case cancelStep(attempt: Int)
        /// Tell one who waits how the run ended.
        case resolve(waiter: Int, didSucceed: Bool)
        /// Tell the app's error handler.
        case report(SchedulerFailure)
    }

    /// What the machine reads as; the runner turns instants into dates.
    package struct Reading: Sendable, Equatable {
        package var phase: KizunaSyncHealth.Phase
        package var consecutiveFailures: Int
        package var nextAttempt: MonotonicInstant?
        package var attemptStarted: MonotonicInstant?
        package var lastSuccess: MonotonicInstant?
        package var lastFailure: SchedulerFailure?
        package var lastFailureInstant: MonotonicInstant?
        package var needsReset: Bool
        package var needsSession: Bool
        package var queueDepth: Int
    }
}
