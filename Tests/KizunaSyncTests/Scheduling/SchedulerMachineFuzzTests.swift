import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

/// Random worlds keep the machine's invariants. The seed of a failure is in its message.
@Suite struct SchedulerMachineFuzzTests {
    @Test func randomEventsKeepTheInvariants() {
        for seed in UInt64(1)...300 {
            var fuzz = Fuzz(seed: seed)
            for _ in 0..<400 where fuzz.faults.isEmpty { fuzz.step() }
            fuzz.end()
            #expect(fuzz.faults.isEmpty, "seed \(seed): \(fuzz.faults)")
        }
    }

    private struct Fuzz {
        var world: SchedulerWorld
        var random: SeededRandom
        var faults: [String] = []
        var isRunning = false
        var isGateOpen = true
        var monitorsPath = true
        var interval = Duration.seconds(10)
        var lastWaiter = 0

        init(seed: UInt64) {
            random = SeededRandom(seed: seed)
            world = SchedulerWorld()
            world.jitter = nil
        }

        mutating func step() {
            let event = nextEvent()
            // One that was given up may still be out in the world, but not for the machine.
            let outBefore = world.machine.reading.attemptStarted == nil ? nil : world.out
            let givesUp = isTimer(event)
            follow(event)
            let effects = world.tell(event)
            check(effects, after: event, outBefore, givesUp)
        }

        private func isTimer(_ event: SchedulerMachine.Event) -> Bool {
            if case .timerFired = event { true } else { false }
        }

        private mutating func follow(_ event: SchedulerMachine.Event) {
            switch event {
            case .started:
                if !isRunning, monitorsPath { isGateOpen = false }
                isRunning = true
            case .stopped:
                if isRunning { isGateOpen = true }
                isRunning = false
            case .pollIntervalSet(let new): interval = new
            case .pathForced(let isOpen): isGateOpen = isOpen
            case .pathReported(let source, let isOpen): if source == world.pathSource { isGateOpen = isOpen }
            case .monitorPathSet(true):
                monitorsPath = true
                if isRunning, world.pathSource == nil { isGateOpen = false }
            case .monitorPathSet(false):
                monitorsPath = false
                isGateOpen = true
            default: break
            }
        }

        private mutating func check(
            _ effects: [SchedulerMachine.Effect], after event: SchedulerMachine.Event,
            _ outBefore: (step: SchedulerWorld.Step, attempt: Int)?, _ givesUp: Bool
        ) {
            if effects.contains(where: { if case .refreshSession = $0 { true } else { false } }) {
                let hasReturned = outBefore == nil || returns(event)
                if !hasReturned, !givesUp { faults.append("S1: a second attempt after \(event)") }
                if !isGateOpen { faults.append("S4: an attempt while the gate is shut, after \(event)") }
            }
            let reading = world.machine.reading
            if isRunning, interval > .zero, reading.nextAttempt == nil, world.pendingArms.isEmpty,
                !reading.needsSession
            {
                faults.append("S2: no poll is set after \(event)")
            }
            if world.timers.count > 5 { faults.append("too many timers: \(world.timers.count)") }
            if !isRunning, reading.attemptStarted == nil, !world.timers.isEmpty {
                // A hold that a wake of a stopped loop made is the one exception.
                if world.timers.count > 1 { faults.append("S7: timers after the stop: \(world.timers)") }
            }
            if (reading.phase == .offline) == isGateOpen { faults.append("the gate is not what it was told: \(event)") }
        }

        private func returns(_ event: SchedulerMachine.Event) -> Bool {
            switch event {
            case .sessionRefreshed, .synced, .resetRead: true
            default: false
            }
        }

        /// After everything has returned and stopped, nobody waits and nothing runs.
        mutating func end() {
            guard faults.isEmpty else { return }
            world.jitter = 0
            world.tell(.stopped)
            for _ in 0..<50 where world.out != nil || !world.timers.isEmpty {
                world.finishRun()
                world.fireNext()
            }
            if world.out != nil || !world.timers.isEmpty { faults.append("S7: it does not end") }
            if world.resolved.count != lastWaiter {
                faults.append("\(lastWaiter - world.resolved.count) wait for ever")
            }
        }

        private mutating func nextEvent() -> SchedulerMachine.Event {
            if let arm = world.pendingArms.first, random.chance(0.7) {
                return .jitterDrawn(arm: arm, random.fraction())
            }
            let source = random.chance(0.1) ? 0 : world.lastSource
            switch random.next() % 22 {
            case 0: return .started
            case 1: return random.chance(0.3) ? .stopped : .woken(.path)
            case 2: return .woken(.poll)
            case 3: return .woken(.localWrite)
            case 4: return .woken(.doorbell)
            case 5:
                lastWaiter += 1
                return .runAwaited(waiter: lastWaiter)
            case 6: return random.chance(0.2) ? .runCalledOff : .refreshReplaced
            case 7:
                return .pollIntervalSet(random.chance(0.2) ? .zero : .seconds(Int(1 + random.next() % 40)))
            case 8: return .monitorPathSet(random.chance(0.8))
            case 9: return .pathReported(source: world.pathSource ?? 0, isSatisfied: random.chance(0.7))
            case 10: return .pathForced(isSatisfied: random.chance(0.8))
            case 11: return .doorbellRang(source: world.realtimeSource ?? 0)
            case 12: return random.chance(0.5) ? .subscribed(source: source) : .engineReplaced(source: source)
            case 13:
                return random.chance(0.7)
                    ? .subscriptionRejected(source: source, SchedulerWorld.failure) : .clientClosed(source: source)
            case 14: return .queueDepthChanged(source: source, Int(random.next() % 4))
            case 15, 16, 17: return timer()
            default: return response()
            }
        }

        private mutating func timer() -> SchedulerMachine.Event {
            guard let next = world.timersInOrder.first, let due = world.timers[next] else { return .woken(.foreground) }
            world.now = max(world.now, due)
            return .timerFired(timer: next)
        }

        private mutating func response() -> SchedulerMachine.Event {
            world.now = world.now + .milliseconds(Int(random.next() % 3_000))
            guard let out = world.out else { return .limitsSet(runDeadline: .seconds(20), stallAfter: nil) }
            let attempt = random.chance(0.05) ? out.attempt - 1 : out.attempt
            switch out.step {
            case .refreshing:
                let outcomes: [SchedulerMachine.SessionOutcome] = [
                    .ready, .ready, .ready, .rejected, .signedOut, .failed(SchedulerWorld.failure),
                ]
                return .sessionRefreshed(attempt: attempt, outcomes[Int(random.next() % 6)])
            case .syncing: return .synced(attempt: attempt, random.chance(0.4) ? SchedulerWorld.failure : nil)
            case .checking: return .resetRead(attempt: attempt, random.chance(0.5))
            }
        }
    }
}
