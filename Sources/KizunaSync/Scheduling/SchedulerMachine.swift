package import KizunaCore

/// Decides when a client syncs, and computes the status of the loop. Pure: timers and jitter are effects and events.
///
/// The loop is stopped or running; independent of that, the single slot is free or holds one attempt:
/// - `refreshing`: the session is being refreshed. → `syncing` (ready), `checking` (rejected, signed out, failed).
/// - `syncing`: the app's `sync` runs. → `checking` (returned).
/// - `checking`: `needsReset` is being read; skipped if the app passed no such closure. → free.
/// In the first two steps the deadline cancels the attempt: it counts as failed at once, and the slot is free when the
/// step has returned, or after the same time again.
///
/// Invariants:
/// - S1: at most one attempt runs, and only an event of that attempt changes it.
/// - S2: while running, with a poll interval and not signed out, a poll timer is set or about to be.
/// - S3: wakes during an attempt cause one trailing run together; a poll causes none.
/// - S4: nothing starts while the gate is closed. The opening of the gate is a wake.
/// - S5: a run for a local write or a doorbell starts no sooner than the floor after the last unsuccessful attempt, and a run
///   for a path that flaps no sooner than the path window allows. One such run is held until then while the loop runs.
/// - S6: an event of a port that was stopped changes nothing.
/// - S7: a stopped loop sets no timers except those of the attempt that still runs.
/// - S8: until the time of a Retry-After, only the app or the user starts a run: `wake`, the start of the loop, the return to
///   the foreground, a new session, or a caller that waits for the run.
package struct SchedulerMachine: Sendable {
    var settings: Settings
    var isRunning = false
    var now = MonotonicInstant.zero
    var effects: [Effect] = []
    var lastID = 0

    var attempt: Attempt?
    var trailing: Urgency?
    var trailingWaiters: [Int] = []
    /// Whether a pull was requested and no run has succeeded since.
    var needsPull = false
    var holdTimer: Int?
    var heldUntil = MonotonicInstant.zero
    var windowTimer: Int?

    var pendingArm: Int?
    var pollTimer: Int?
    var nextAttempt: MonotonicInstant?

    var isGateOpen = true
    var pathSource: Int?
    /// The times of the last path wakes that started at once, at most as many as the path window allows.
    var pathWakes: [MonotonicInstant] = []
    var foregroundSource: Int?
    var realtimeSource: Int?
    var subscription = Subscription.none
    var hasReportedRejection = false

    var streak = 0
    var failuresSinceSuccess = 0
    /// Runs since the last success that were skipped without a session. They are no failures, but they delay writes too.
    var skipsSinceSuccess = 0
    var lastAttemptEnd: MonotonicInstant?
    /// The time of the server's Retry-After.
    var retryInstant: MonotonicInstant?
    /// Spreads devices that received the same Retry-After.
    var lastFraction = 0.0
    var lastSuccess: MonotonicInstant?
    var lastFailure: (failure: SchedulerFailure, instant: MonotonicInstant)?
    var needsReset = false
    var needsSession = false
    var isSignedOut = false
    var queueDepth = 0
    var hasDepth = false

    package init(_ settings: Settings) { self.settings = settings }

    /// The status of the loop after the last event.
    package var reading: Reading {
        Reading(
            phase: phase, consecutiveFailures: streak, nextAttempt: nextAttempt, attemptStarted: attempt?.startedAt,
            lastSuccess: lastSuccess, lastFailure: lastFailure?.failure, lastFailureInstant: lastFailure?.instant,
            needsReset: needsReset, needsSession: needsSession, queueDepth: queueDepth)
    }

    var phase: KizunaSyncHealth.Phase {
        if !isGateOpen { return .offline }
        if let attempt { return attempt.isStalled ? .stalled : .syncing }
        if needsSession { return .waitingForSession }
        return streak > 0 ? .backoff : .idle
    }

    /// Handles one event. Returns its effects in the order in which they must be performed.
    package mutating func handle(_ event: Event, at instant: MonotonicInstant) -> [Effect] {
        now = instant
        switch event {
        case .started: start()
        case .stopped: stop()
        case .woken(let reason): wake(reason)
        case .runAwaited(let waiter): awaitRun(waiter)
        case .runCalledOff: callOff()
        case .pollIntervalSet(let interval):
            settings.pollInterval = interval
            arm()
        case .refreshReplaced:
            isSignedOut = false
            arm()
        case .monitorPathSet(let isOn): setMonitorsPath(isOn)
        case .limitsSet(let runDeadline, let stallAfter):
            settings.runDeadline = runDeadline
            settings.stallAfter = stallAfter
        case .timerFired(let timer): fire(timer)
        case .jitterDrawn(let arm, let fraction): setTimer(arm: arm, fraction)
        case .pathReported(let source, let isSatisfied):
            if source == pathSource { setGate(isSatisfied) }
        case .pathForced(let isSatisfied): setGate(isSatisfied)
        case .foregrounded(let source):
            if source == foregroundSource { wake(.foreground) }
        case .doorbellRang(let source):
            if source == realtimeSource { wake(.doorbell, .gentle) }
        case .subscribed, .subscriptionRejected, .queueDepthChanged, .queueDepthRead, .engineReplaced,
            .clientClosed:
            handleClient(event)
        case .sessionRefreshed(let id, let outcome):
            if attempt?.id == id, attempt?.step == .refreshing { refreshed(outcome) }
        case .synced(let id, let failure):
            if attempt?.id == id, attempt?.step == .syncing { synced(failure) }
        case .resetRead(let id, let value):
            if attempt?.id == id, attempt?.step == .checking {
                needsReset = value
                finish()
            }
        }
        defer { effects = [] }
        return effects
    }

    mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }

    mutating func startTimer(after delay: Duration) -> Int {
        let timer = nextID()
        effects.append(.startTimer(timer: timer, after: delay))
        return timer
    }

    mutating func cancel(_ timer: WritableKeyPath<Self, Int?>) {
        cancel(self[keyPath: timer])
        self[keyPath: timer] = nil
    }

    mutating func cancel(_ timer: Int?) {
        if let timer { effects.append(.cancelTimer(timer: timer)) }
    }
}

extension SyncError.Code {
    /// A run of the scheduler did not end before its deadline.
    public static let runDeadline = Self(rawValue: "run_deadline")
}
