internal import KizunaCore

// Backoff, timers, the lease, and what is published.

extension QueueMachine {
    mutating func backOff(_ retryAfter: Duration?, _ jitter: Double) {
        guard isEnabled else { return }
        let asked = RetryAfter.bounded(retryAfter ?? .zero)
        guard isSessionReady, !isWaitingForAll else {
            // What is booked may end before the server wants to be asked again.
            if asked > .zero { startTimer(.asked, asked) }
            return
        }
        failures += 1
        let scheduled = RetrySchedule.refresh.wait(afterFailure: failures).jittered(jitter)
        if asked > .zero { startTimer(.asked, asked) }
        if asked < scheduled { startTimer(.everything, scheduled) }
    }

    mutating func startTimer(_ use: TimerUse, _ delay: Duration) {
        lastID += 1
        timers[lastID] = use
        effects.append(.startTimer(timer: lastID, after: delay))
    }

    mutating func cancelTimers(of use: TimerUse) {
        for (timer, its) in timers.sorted(by: { $0.key < $1.key }) where its == use {
            timers[timer] = nil
            effects.append(.cancelTimer(timer: timer))
        }
    }

    mutating func fired(_ timer: Int) {
        switch timers.removeValue(forKey: timer) {
        case .everything, .asked: if failures == 0 { failures = 1 }
        case .item(let id): if tracked[id]?.state == .parked { tracked[id]?.state = .waiting }
        case .commit(let flight):
            if let outcome = flights[flight]?.outcome { effects.append(outcome) }
        case .turn: isLeaseHeldByOther = false
        case nil: break
        }
    }

    /// Ends every wait but those for the disk and for another process.
    mutating func wake() {
        cancelTimers(of: .asked)
        hurry()
    }

    /// Another process's turn. Where one is waited for already, its end is when to look again.
    mutating func waitForLease(_ remaining: Duration) {
        guard !isLeaseHeldByOther else { return }
        isLeaseHeldByOther = true
        startTimer(.turn, remaining)
    }

    /// Ends every wait but those for the disk, for another process, and those the server asked for.
    mutating func hurry() {
        cancelTimers(of: .everything)
        failures = 0
        for (timer, use) in timers.sorted(by: { $0.key < $1.key }) {
            guard case .item(let id) = use else { continue }
            timers[timer] = nil
            effects.append(.cancelTimer(timer: timer))
            if tracked[id]?.state == .parked { tracked[id]?.state = .waiting }
        }
    }

    mutating func publish() {
        let next: QueueState =
            if order.isEmpty { .idle } else if !isEnabled { .waitingForNetwork } else if !isSessionReady {
                .waitingForSession
            } else if !flights.isEmpty || isLeaseHeldByOther { .draining } else if !isPathUp { .waitingForNetwork } else
            {
                .retrying(failures: failures)
            }
        guard next != published else { return }
        published = next
        effects.append(.publish(next))
    }
}
