package import KizunaCore

/// Decides when a client syncs, and how the loop stands. Pure: events in, effects out; timers and jitter come as events.
///
/// The loop is stopped or running; independent of that, the single slot is free or holds one attempt:
/// - `refreshing`: the session is being refreshed. → `syncing` (ready), `checking` (refused, signed out, failed).
/// - `syncing`: the app's `sync` is out. → `checking` (returned).
/// - `checking`: `needsReset` is being read; skipped where there is no such closure. → free.
/// In the first two steps the deadline calls the attempt off: it counts as failed at once, and the slot is free when the
/// step has returned, or after the same time again.
///
/// Invariants:
/// - S1: at most one attempt is out, and only an event of that attempt can move it.
/// - S2: while running, with a poll interval and not signed out, a poll timer is set or about to be.
/// - S3: a wake that finds the slot taken becomes part of one trailing run; a poll becomes none.
/// - S4: nothing starts while the gate is shut, whatever asks. The opening of the gate is a wake of its own.
/// - S5: what a write or a doorbell asks for starts no sooner than the floor after the last attempt in vain, and what a
///   path that comes and goes asks for no sooner than its window allows either; it is held once and not forgotten while
///   the loop runs.
/// - S6: news of a port that was let go changes nothing.
/// - S7: a stopped loop sets no timer but those of the attempt that is still out.
/// - S8: while the server asked to be left alone, only a person's wish starts anything: the app's `wake`, its start, its
///   return to the front, a new session, or somebody who waits for the run.
package struct SchedulerMachine: Sendable {
    private var settings: Settings
    private var isRunning = false
    private var now = MonotonicInstant.zero
    private var effects: [Effect] = []
    private var lastID = 0

    private var attempt: Attempt?
    private var trailing: Urgency?
    private var trailingWaiters: [Int] = []
    /// Whether somebody asked for what others changed, and no run that succeeded has brought it since.
    private var needsPull = false
    private var holdTimer: Int?
    private var heldUntil = MonotonicInstant.zero
    private var windowTimer: Int?

    private var pendingArm: Int?
    private var pollTimer: Int?
    private var nextAttempt: MonotonicInstant?

    private var isGateOpen = true
    private var pathSource: Int?
    /// When a path that came back was last let through at once, as often as that may happen within the path window.
    private var pathWakes: [MonotonicInstant] = []
    private var foregroundSource: Int?
    private var realtimeSource: Int?
    private var subscription = Subscription.none
    private var hasReportedRejection = false

    private var streak = 0
    private var failuresSinceSuccess = 0
    /// Runs since the last success that were skipped for want of a session: no failures, but they hold writes back too.
    private var skipsSinceSuccess = 0
    private var lastAttemptEnd: MonotonicInstant?
    /// Until when the server asked to be left alone.
    private var retryInstant: MonotonicInstant?
    /// Keeps devices apart that were told the same time.
    private var lastFraction = 0.0
    private var lastSuccess: MonotonicInstant?
    private var lastFailure: (failure: SchedulerFailure, instant: MonotonicInstant)?
    private var needsReset = false
    private var needsSession = false
    private var isSignedOut = false
    private var queueDepth = 0
    private var hasDepth = false

    package init(_ settings: Settings) { self.settings = settings }

    /// How the loop stands after the last event.
    package var reading: Reading {
        Reading(
            phase: phase, consecutiveFailures: streak, nextAttempt: nextAttempt, attemptStarted: attempt?.startedAt,
            lastSuccess: lastSuccess, lastFailure: lastFailure?.failure, lastFailureInstant: lastFailure?.instant,
            needsReset: needsReset, needsSession: needsSession, queueDepth: queueDepth)
    }

    private var phase: KizunaSyncHealth.Phase {
        if !isGateOpen { return .offline }
        if let attempt { return attempt.isStalled ? .stalled : .syncing }
        if needsSession { return .waitingForSession }
        return streak > 0 ? .backoff : .idle
    }

    /// Takes one event and says what to do about it, in order.
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

    private mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }

    private mutating func startTimer(after delay: Duration) -> Int {
        let timer = nextID()
        effects.append(.startTimer(timer: timer, after: delay))
        return timer
    }

    private mutating func cancel(_ timer: WritableKeyPath<Self, Int?>) {
        cancel(self[keyPath: timer])
        self[keyPath: timer] = nil
    }

    private mutating func cancel(_ timer: Int?) {
        if let timer { effects.append(.cancelTimer(timer: timer)) }
    }
}

// MARK: - Starting and stopping

extension SchedulerMachine {
    private mutating func start() {
        guard !isRunning else { return }
        isRunning = true
        hasReportedRejection = false
        arm()
        if settings.monitorsPath { armPath() }
        if settings.hasForegroundSource {
            let source = nextID()
            foregroundSource = source
            effects.append(.startForeground(source: source))
        }
        if settings.hasRealtime {
            let source = nextID()
            realtimeSource = source
            effects.append(.subscribeRealtime(source: source))
        }
        subscribe()
        wake(.start)
    }

    private mutating func stop() {
        guard isRunning else { return }
        isRunning = false
        isSignedOut = false
        disarm()
        cancel(\.holdTimer)
        cancel(\.windowTimer)
        disarmPath()
        if foregroundSource != nil { effects.append(.stopForeground) }
        foregroundSource = nil
        if realtimeSource != nil { effects.append(.cancelRealtime) }
        realtimeSource = nil
        unsubscribe()
        isGateOpen = true
    }

    private mutating func setMonitorsPath(_ isOn: Bool) {
        settings.monitorsPath = isOn
        if isOn {
            if isRunning, pathSource == nil { armPath() }
        } else {
            disarmPath()
            setGate(true)
        }
    }

    /// Arming shuts the gate until the first report.
    private mutating func armPath() {
        guard settings.hasPathMonitor else { return }
        let source = nextID()
        pathSource = source
        pathWakes = []
        isGateOpen = false
        effects.append(.startPath(source: source))
    }

    private mutating func disarmPath() {
        if pathSource != nil { effects.append(.cancelPath) }
        pathSource = nil
    }

    private mutating func setGate(_ isSatisfied: Bool) {
        let hasOpened = isSatisfied && !isGateOpen
        isGateOpen = isSatisfied
        if hasOpened { wake(.path) }
    }
}

// MARK: - The client's events

extension SchedulerMachine {
    private mutating func handleClient(_ event: Event) {
        switch event {
        case .subscribed(let source):
            if subscription == .pending(source) {
                subscription = .active(source)
            } else if subscription != .active(source) {
                effects.append(.unsubscribe(source: source))
            }
        case .subscriptionRejected(let source, let failure):
            guard subscription == .pending(source) else { return }
            subscription = .rejected
            if !hasReportedRejection { effects.append(.report(failure)) }
            hasReportedRejection = true
        case .queueDepthChanged(let source, let depth):
            guard isCurrent(source) else { return }
            depthChanged(to: depth)
        case .queueDepthRead(let source, let depth):
            if isCurrent(source), !hasDepth { queueDepth = depth }
        case .engineReplaced(let source):
            guard isCurrent(source) else { return }
            unsubscribe()
            subscribe()
        case .clientClosed(let source):
            guard isCurrent(source) else { return }
            unsubscribe()
            // The next run looks whether there is a client again.
            subscription = .rejected
        default: break
        }
    }

    /// Whether the subscription is the present one; its first events may come before it is known to be made.
    private func isCurrent(_ source: Int) -> Bool {
        subscription == .active(source) || subscription == .pending(source)
    }

    private mutating func subscribe() {
        let source = nextID()
        subscription = .pending(source)
        hasDepth = false
        effects.append(.subscribe(source: source))
    }

    private mutating func unsubscribe() {
        // One that is still being made is let go when it is.
        if case .active(let source) = subscription { effects.append(.unsubscribe(source: source)) }
        subscription = .none
    }

    private mutating func depthChanged(to depth: Int) {
        let hasRisen = depth > queueDepth
        queueDepth = depth
        hasDepth = true
        if depth > 0, windowTimer == nil, attempt == nil || hasRisen {
            // A falling depth during a run is the run's own doing.
            windowTimer = startTimer(after: SchedulerWaits.writeWindow)
        }
    }
}

// MARK: - Wakes and the timer

extension SchedulerMachine {
    private mutating func wake(_ reason: KizunaSyncScheduler.WakeReason, _ urgency: Urgency? = nil) {
        guard reason != .poll else { return poll() }
        let urgency = urgency ?? self.urgency(of: reason)
        if urgency != .paced { resetBackoff() }
        request(urgency, asksReads: reason != .localWrite)
    }

    private mutating func urgency(of reason: KizunaSyncScheduler.WakeReason) -> Urgency {
        switch reason {
        case .localWrite: return .gentle
        case .path:
            if let pathFloor, pathFloor > now { return .paced }
            pathWakes = pathWakes.suffix(SchedulerWaits.pathWakesAtOnce - 1) + [now]
            return .prompt
        case .poll, .foreground, .doorbell, .start, .session: return .urgent
        }
    }

    /// What any wake but a poll does first: the streak and its marks go, and the timer starts anew at the base interval.
    private mutating func resetBackoff() {
        var isChanged = streak > 0 || lastFailure != nil || isSignedOut
        streak = 0
        lastFailure = nil
        isSignedOut = false
        if let current = attempt {
            isChanged = isChanged || current.isStalled || current.ticks > 0
            attempt?.ticks = 0
            // An attempt that is too old stays stalled, or steady writes would hide it.
            if now - current.startedAt < stallAge { attempt?.isStalled = false }
        }
        if isChanged { arm() }
    }

    private mutating func request(_ urgency: Urgency, asksReads: Bool = true) {
        guard isGateOpen else { return }
        needsPull = needsPull || asksReads
        guard attempt == nil else {
            if urgency.rawValue > trailing?.rawValue ?? -1 { trailing = urgency }
            return
        }
        guard let floor = floor(of: urgency), floor > now else { return begin() }
        if holdTimer != nil, heldUntil <= floor { return }
        cancel(\.holdTimer)
        heldUntil = floor
        holdTimer = startTimer(after: floor - now)
    }

    private mutating func awaitRun(_ waiter: Int) {
        resetBackoff()
        guard isGateOpen else { return resolve([waiter], false) }
        trailingWaiters.append(waiter)
        request(.urgent)
    }

    private mutating func poll() {
        guard isGateOpen, !isSignedOut else { return }
        guard attempt != nil else { return request(.prompt) }
        attempt?.ticks += 1
        if attempt?.ticks == 2 { stall() }
    }

    /// Counts a stuck attempt as one failure and books one catch-up run.
    private mutating func stall() {
        guard attempt?.isStalled == false else { return }
        attempt?.isStalled = true
        streak += 1
        needsPull = true
        if trailing != .urgent { trailing = .prompt }
        arm()
    }

    private var stallAge: Duration {
        SchedulerWaits.stallAge(settings.stallAfter, pollInterval: settings.pollInterval)
    }

    private var pathFloor: MonotonicInstant? {
        guard pathWakes.count == SchedulerWaits.pathWakesAtOnce, let first = pathWakes.first else { return nil }
        return first + SchedulerWaits.pathWindow(failures: unsuccessfulRuns)
    }

    private var unsuccessfulRuns: Int { failuresSinceSuccess + skipsSinceSuccess }

    /// When a run of this urgency may start; nil where nothing holds it.
    private func floor(of urgency: Urgency) -> MonotonicInstant? {
        let failed = lastAttemptEnd.map { $0 + SchedulerWaits.floor(failures: unsuccessfulRuns) }
        switch urgency {
        case .urgent: return nil
        case .prompt: return retryFloor
        case .gentle: return [failed, retryFloor].compactMap(\.self).max()
        case .paced: return [failed, retryFloor, pathFloor].compactMap(\.self).max()
        }
    }

    /// Everybody was told the same time: the jitter keeps them apart after it.
    private var retryFloor: MonotonicInstant? {
        retryInstant.map { $0 + SchedulerWaits.spread(settings.pollInterval, lastFraction) }
    }

    private mutating func fire(_ timer: Int) {
        switch timer {
        case pollTimer:
            pollTimer = nil
            arm()
            poll()
        case holdTimer:
            holdTimer = nil
            request(.gentle, asksReads: false)
        case windowTimer:
            windowTimer = nil
            wake(.localWrite)
        case attempt?.stallTimer:
            attempt?.stallTimer = nil
            stall()
        case attempt?.deadlineTimer:
            attempt?.deadlineTimer = nil
            deadlinePassed()
        default: break
        }
    }

    /// Sets the poll timer anew, a full interval from now; the jitter is asked for first.
    private mutating func arm() {
        guard isRunning, !isSignedOut, settings.pollInterval > .zero else { return disarm() }
        cancel(\.pollTimer)
        let arm = nextID()
        pendingArm = arm
        effects.append(.drawJitter(arm: arm))
    }

    private mutating func disarm() {
        cancel(\.pollTimer)
        pendingArm = nil
        nextAttempt = nil
    }

    private mutating func setTimer(arm: Int, _ drawn: Double) {
        guard arm == pendingArm else { return }
        pendingArm = nil
        let fraction = drawn >= 0 ? min(drawn, 1) : 0
        lastFraction = fraction
        let interval = SchedulerWaits.pollInterval(settings.pollInterval, failures: streak)
        var delay = interval.jittered(fraction)
        if let retryFloor { delay = max(delay, retryFloor - now) }
        nextAttempt = now + delay
        pollTimer = startTimer(after: delay)
    }
}

// MARK: - One attempt

extension SchedulerMachine {
    private mutating func begin() {
        cancel(\.holdTimer)
        if isRunning, subscription == .rejected { subscribe() }
        var begun = Attempt(id: nextID(), startedAt: now, asksReads: needsPull, waiters: trailingWaiters)
        needsPull = false
        trailingWaiters = []
        begun.stallTimer = startTimer(after: stallAge)
        begun.deadlineTimer = startTimer(after: SchedulerWaits.deadline(settings.runDeadline))
        attempt = begun
        effects.append(.refreshSession(attempt: begun.id))
    }

    private mutating func refreshed(_ outcome: SessionOutcome) {
        guard let current = attempt, current.outcome == .none else { return check() }
        switch outcome {
        case .ready:
            needsSession = false
            if isSignedOut {
                isSignedOut = false
                arm()
            }
            attempt?.step = .syncing
            effects.append(.sync(attempt: current.id, asksReads: current.asksReads))
            return
        case .rejected: needsSession = true
        case .signedOut:
            needsSession = true
            isSignedOut = true
            disarm()
        case .failed(let failure):
            attempt?.outcome = .failed(failure)
            effects.append(.report(failure))
        }
        check()
    }

    private mutating func synced(_ failure: SchedulerFailure?) {
        if let failure {
            if attempt?.outcome == Outcome.none {
                attempt?.outcome = .failed(failure)
                effects.append(.report(failure))
            }
        } else {
            attempt?.outcome = .succeeded
        }
        check()
    }

    private mutating func check() {
        guard settings.readsReset, let id = attempt?.id else { return finish() }
        attempt?.step = .checking
        restartDeadline()
        effects.append(.readReset(attempt: id))
    }

    /// Ends an attempt early, without a word about the server.
    private mutating func callOff() {
        guard let current = attempt, current.step != .checking, current.outcome == .none else { return }
        attempt?.outcome = .calledOff
        effects.append(.cancelStep(attempt: current.id))
        restartDeadline()
    }

    private mutating func resolve(_ waiters: [Int], _ didSucceed: Bool) {
        effects += waiters.map { .resolve(waiter: $0, didSucceed: didSucceed) }
    }

    private mutating func restartDeadline() {
        cancel(attempt?.deadlineTimer)
        let timer = startTimer(after: SchedulerWaits.deadline(settings.runDeadline))
        attempt?.deadlineTimer = timer
    }

    private mutating func deadlinePassed() {
        guard let current = attempt else { return }
        guard current.step != .checking, current.outcome == .none else {
            effects.append(.cancelStep(attempt: current.id))
            return finish()
        }
        let failure = SchedulerFailure(
            SyncError(.runDeadline, "The run did not end before its deadline and was called off."))
        attempt?.outcome = .overdue
        effects += [.cancelStep(attempt: current.id), .report(failure)]
        restartDeadline()
        count(failure)
        arm()
    }

    private mutating func count(_ failure: SchedulerFailure) {
        streak += 1
        failuresSinceSuccess += 1
        lastAttemptEnd = now
        lastFailure = (failure, now)
        if let asked = failure.retryAfter { retryInstant = now + SchedulerWaits.retryAfter(asked) }
    }

    private mutating func finish() {
        guard let ended = attempt else { return }
        attempt = nil
        cancel(ended.stallTimer)
        cancel(ended.deadlineTimer)
        if ended.outcome != .succeeded, ended.asksReads { needsPull = true }
        let before = (streak, failuresSinceSuccess)
        switch ended.outcome {
        case .calledOff: break
        case .none:
            skipsSinceSuccess += 1
            lastAttemptEnd = now
        case .succeeded:
            streak = 0
            failuresSinceSuccess = 0
            skipsSinceSuccess = 0
            retryInstant = nil
            lastAttemptEnd = now
            lastSuccess = now
            lastFailure = nil
        case .failed(let failure): count(failure)
        case .overdue: lastAttemptEnd = now
        }
        resolve(ended.waiters, ended.outcome == .succeeded)
        if let urgency = trailing {
            trailing = nil
            arm()
            request(urgency, asksReads: false)
            if attempt == nil {
                resolve(trailingWaiters, false)
                trailingWaiters = []
            }
        } else if before != (streak, failuresSinceSuccess) {
            arm()
        }
    }
}

extension SyncError.Code {
    /// A run of the scheduler did not end before its deadline.
    public static let runDeadline = Self(rawValue: "run_deadline")
}
