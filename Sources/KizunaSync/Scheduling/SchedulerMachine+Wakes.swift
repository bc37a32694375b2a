internal import KizunaCore

// Wakes, floors and timers: when a run may start.

extension SchedulerMachine {
    mutating func wake(_ reason: KizunaSyncScheduler.WakeReason, _ urgency: Urgency? = nil) {
        guard reason != .poll else { return poll() }
        let urgency = urgency ?? self.urgency(of: reason)
        if urgency != .paced { resetBackoff() }
        request(urgency, asksReads: reason != .localWrite)
    }

    mutating func urgency(of reason: KizunaSyncScheduler.WakeReason) -> Urgency {
        switch reason {
        case .localWrite: return .gentle
        case .path:
            if let pathFloor, pathFloor > now { return .paced }
            pathWakes = pathWakes.suffix(SchedulerWaits.pathWakesAtOnce - 1) + [now]
            return .prompt
        case .poll, .foreground, .doorbell, .start, .session: return .urgent
        }
    }

    /// Resets the failures in a row, and starts the poll timer again at the base interval. Each wake except a poll does it first.
    mutating func resetBackoff() {
        var isChanged = streak > 0 || lastFailure != nil || isSignedOut
        streak = 0
        lastFailure = nil
        isSignedOut = false
        if let current = attempt {
            isChanged = isChanged || current.isStalled || current.ticks > 0
            attempt?.ticks = 0
            // An attempt over the age limit stays stalled, or steady writes would hide it.
            if now - current.startedAt < stallAge { attempt?.isStalled = false }
        }
        if isChanged { arm() }
    }

    mutating func request(_ urgency: Urgency, asksReads: Bool = true) {
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

    mutating func awaitRun(_ waiter: Int) {
        resetBackoff()
        guard isGateOpen else { return resolve([waiter], false) }
        trailingWaiters.append(waiter)
        request(.urgent)
    }

    mutating func poll() {
        guard isGateOpen, !isSignedOut else { return }
        guard attempt != nil else { return request(.prompt) }
        attempt?.ticks += 1
        if attempt?.ticks == 2 { stall() }
    }

    /// Counts a stalled attempt as one failure and requests one trailing run.
    mutating func stall() {
        guard attempt?.isStalled == false else { return }
        attempt?.isStalled = true
        streak += 1
        needsPull = true
        if trailing != .urgent { trailing = .prompt }
        arm()
    }

    var stallAge: Duration {
        SchedulerWaits.stallAge(settings.stallAfter, pollInterval: settings.pollInterval)
    }

    var pathFloor: MonotonicInstant? {
        guard pathWakes.count == SchedulerWaits.pathWakesAtOnce, let first = pathWakes.first else { return nil }
        return first + SchedulerWaits.pathWindow(failures: unsuccessfulRuns)
    }

    var unsuccessfulRuns: Int { failuresSinceSuccess + skipsSinceSuccess }

    /// The earliest start of a run of this urgency; nil if it may start at once.
    func floor(of urgency: Urgency) -> MonotonicInstant? {
        let failed = lastAttemptEnd.map { $0 + SchedulerWaits.floor(failures: unsuccessfulRuns) }
        switch urgency {
        case .urgent: return nil
        case .prompt: return retryFloor
        case .gentle: return [failed, retryFloor].compactMap(\.self).max()
        case .paced: return [failed, retryFloor, pathFloor].compactMap(\.self).max()
        }
    }

    /// All devices receive the same Retry-After; the jitter spreads them after it.
    var retryFloor: MonotonicInstant? {
        retryInstant.map { $0 + SchedulerWaits.spread(settings.pollInterval, lastFraction) }
    }

    mutating func fire(_ timer: Int) {
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

    /// Sets the poll timer again, a full interval from now, after the jitter has been drawn.
    mutating func arm() {
        guard isRunning, !isSignedOut, settings.pollInterval > .zero else { return disarm() }
        cancel(\.pollTimer)
        let arm = nextID()
        pendingArm = arm
        effects.append(.drawJitter(arm: arm))
    }

    mutating func disarm() {
        cancel(\.pollTimer)
        pendingArm = nil
        nextAttempt = nil
    }

    mutating func setTimer(arm: Int, _ drawn: Double) {
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
