internal import KizunaCore

// The attempt that runs: its steps, its deadline and its result.

extension SchedulerMachine {
    mutating func begin() {
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

    mutating func refreshed(_ outcome: SessionOutcome) {
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

    mutating func synced(_ failure: SchedulerFailure?) {
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

    mutating func check() {
        guard settings.readsReset, let id = attempt?.id else { return finish() }
        attempt?.step = .checking
        restartDeadline()
        effects.append(.readReset(attempt: id))
    }

    /// Cancels the attempt. It counts neither as a success nor as a failure.
    mutating func callOff() {
        guard let current = attempt, current.step != .checking, current.outcome == .none else { return }
        attempt?.outcome = .calledOff
        effects.append(.cancelStep(attempt: current.id))
        restartDeadline()
    }

    mutating func resolve(_ waiters: [Int], _ didSucceed: Bool) {
        effects += waiters.map { .resolve(waiter: $0, didSucceed: didSucceed) }
    }

    mutating func restartDeadline() {
        cancel(attempt?.deadlineTimer)
        let timer = startTimer(after: SchedulerWaits.deadline(settings.runDeadline))
        attempt?.deadlineTimer = timer
    }

    mutating func deadlinePassed() {
        guard let current = attempt else { return }
        guard current.step != .checking, current.outcome == .none else {
            effects.append(.cancelStep(attempt: current.id))
            return finish()
        }
        let failure = SchedulerFailure(
            SyncError(.runDeadline, "The run did not end before its deadline and was cancelled."))
        attempt?.outcome = .overdue
        effects += [.cancelStep(attempt: current.id), .report(failure)]
        restartDeadline()
        count(failure)
        arm()
    }

    mutating func count(_ failure: SchedulerFailure) {
        streak += 1
        failuresSinceSuccess += 1
        lastAttemptEnd = now
        lastFailure = (failure, now)
        if let asked = failure.retryAfter { retryInstant = now + SchedulerWaits.retryAfter(asked) }
    }

    mutating func finish() {
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
