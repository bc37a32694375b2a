import KizunaCore
import KizunaSync
import Testing

/// Waits: each failure starts a timer for the next attempt (Q3), and nothing is sent without a network or a session (Q4).
@Suite struct QueueWaitTests {
    @Test func eachFailureInARowWaitsLongerAsScheduled() {
        var rig = QueueRig()
        rig.handle(.queued([queueItem("a", "1")]))
        for _ in 1...8 {
            let failed = QueueMachine.Event.unanswered(
                flight: rig.lastFlight, mayHaveBeenHandled: false, reason: "offline", jitter: 1)
            #expect(rig.handle(failed) == "note a, timer")
            #expect(rig.handle(.timerFired(timer: rig.lastTimer)) == "send a")
        }
        #expect(
            rig.delays == [
                .milliseconds(300), .milliseconds(900), .milliseconds(2400), .seconds(5), .seconds(15), .seconds(60),
                .seconds(60), .seconds(60),
            ])
    }

    @Test func jitterShortensAWaitByAtMostHalf() {
        var rig = QueueRig()
        rig.handle(.queued([queueItem("a", "1")]))
        rig.handle(.unanswered(flight: 1, mayHaveBeenHandled: false, reason: "offline", jitter: 0))
        #expect(rig.delays == [.milliseconds(150)])
    }

    @Test(arguments: [(5, 5), (3600, 600)])
    func retryAfterIsObeyedUpToTenMinutes(asked: Int, kept: Int) {
        var rig = QueueRig()
        rig.handle(.queued([queueItem("a", "1")]))
        let busy = WriteOutcome.unavailable(retryAfter: .seconds(asked), mayHaveBeenHandled: false)
        rig.handle(.answered(flight: 1, busy, jitter: 0))
        #expect(rig.delays == [.seconds(kept)])
    }

    @Test func onlyEnableNetworkAndAReturnedNetworkEndRetryAfter() {
        let table: [(QueueMachine.Event, String)] = [
            (.retryRequested(respectingRetryAfter: true), ""), (.sessionChanged(isReady: true), ""),
            (.pathChanged(isUp: false), ""),
            (.queued([queueItem("b", "2")]), ""), (.retryRequested(respectingRetryAfter: false), "cancel, send a"),
            (.pathChanged(isUp: true), "cancel, send a"), (.networkSwitched(isEnabled: true), "cancel, send a"),
        ]
        for (event, expected) in table {
            var rig = QueueRig()
            rig.handle(.queued([queueItem("a", "1")]))
            let busy = WriteOutcome.unavailable(retryAfter: .seconds(60), mayHaveBeenHandled: false)
            #expect(rig.handle(.answered(flight: 1, busy, jitter: 0)) == "note a, timer")
            #expect(rig.handle(event) == expected, "\(event)")
        }
    }

    @Test func aRetryEndsAScheduledWaitLongerThanRetryAfter() {
        var rig = QueueRig()
        rig.handle(.queued([queueItem("a", "1")]))
        for _ in 1...5 {
            rig.handle(.unanswered(flight: rig.lastFlight, mayHaveBeenHandled: false, reason: "offline", jitter: 1))
            rig.handle(.timerFired(timer: rig.lastTimer))
        }
        let busy = WriteOutcome.unavailable(retryAfter: .seconds(2), mayHaveBeenHandled: false)
        rig.handle(.answered(flight: rig.lastFlight, busy, jitter: 1))
        #expect(rig.delays.suffix(2) == [.seconds(2), .seconds(60)])
        let asked = rig.lastTimer - 1
        #expect(rig.handle(.retryRequested(respectingRetryAfter: true)) == "cancel")
        #expect(rig.handle(.timerFired(timer: asked)) == "send a")
    }

    /// Four requests are in flight; the wait of the second is longer than the timer of the first.
    @Test func theLongestOfSeveralWaitsApplies() {
        var rig = QueueRig()
        rig.handle(.queued((1...4).map { queueItem("w\($0)", "\($0)", makes: false) }))
        rig.handle(.unanswered(flight: 1, mayHaveBeenHandled: false, reason: "offline", jitter: 0))
        let first = rig.lastTimer
        let busy = WriteOutcome.unavailable(retryAfter: .seconds(60), mayHaveBeenHandled: false)
        #expect(rig.handle(.answered(flight: 2, busy, jitter: 0)) == "note w2, timer")
        #expect(rig.handle(.timerFired(timer: first)) == "")
        #expect(rig.handle(.timerFired(timer: rig.lastTimer)) == "send w1, send w2")
    }

    @Test func severalFailuresAtOnceStartOneTimer() {
        var rig = QueueRig()
        rig.handle(.queued((1...4).map { queueItem("w\($0)", "\($0)", makes: false) }))
        let words = (1...4).map {
            rig.handle(.unanswered(flight: $0, mayHaveBeenHandled: false, reason: "offline", jitter: 0))
        }
        #expect(words == ["note w1, timer", "note w2", "note w3", "note w4"])
    }

    @Test func theSessionIsRequestedOnceUntilItChanges() {
        var rig = QueueRig()
        rig.handle(.queued((1...3).map { queueItem("w\($0)", "\($0)", makes: false) }))
        let words = (1...3).map { rig.handle(.answered(flight: $0, .needsSession, jitter: 0)) }
        #expect(words == ["note w1, ask session", "note w2", "note w3"])
        #expect(rig.handle(.retryRequested(respectingRetryAfter: true)) == "")
        #expect(rig.handle(.sessionChanged(isReady: true)) == "send w1, send w2, send w3")
        #expect(rig.handle(.answered(flight: rig.lastFlight, .needsSession, jitter: 0)) == "note w3, ask session")
    }

    @Test func withoutANetworkPathTheQueueTriesOnceAMinute() {
        var rig = QueueRig(isPathUp: false)
        #expect(rig.handle(.queued([queueItem("a", "1")])) == "timer")
        #expect(rig.delays == [.seconds(60)])
        #expect(rig.handle(.queued([queueItem("b", "2")])) == "")
        #expect(rig.handle(.timerFired(timer: rig.lastTimer)) == "send a, send b")
    }

    @Test func aRequestedRetryIgnoresTheNetworkPath() {
        var rig = QueueRig(isPathUp: false)
        rig.handle(.queued([queueItem("a", "1")]))
        #expect(rig.handle(.retryRequested(respectingRetryAfter: true)) == "cancel, send a")
    }

    @Test func aRequestedRetryKeepsTheWaitOfTheSchedule() {
        var rig = QueueRig()
        rig.handle(.queued([queueItem("a", "1")]))
        let busy = WriteOutcome.unavailable(retryAfter: nil, mayHaveBeenHandled: false)
        for _ in 1...5 {
            rig.handle(.answered(flight: rig.lastFlight, busy, jitter: 1))
            rig.handle(.timerFired(timer: rig.lastTimer))
        }
        rig.handle(.answered(flight: rig.lastFlight, busy, jitter: 1))
        for _ in 1...10 {
            #expect(rig.handle(.retryRequested(respectingRetryAfter: true)) == "cancel, send a")
            rig.handle(.answered(flight: rig.lastFlight, busy, jitter: 1))
            #expect(rig.delays.last == .seconds(60))
        }
        // With another network the schedule begins again.
        rig.handle(.pathChanged(isUp: false))
        rig.handle(.pathChanged(isUp: true))
        rig.handle(.answered(flight: rig.lastFlight, busy, jitter: 1))
        #expect(rig.delays.last == .milliseconds(300))
    }

    @Test func anOutcomeThatCannotBeCommittedIsCommittedLater() {
        var rig = QueueRig()
        rig.handle(.queued([queueItem("a", "1")]))
        rig.handle(.answered(flight: 1, .delivered, jitter: 0))
        for _ in 1...3 {
            #expect(rig.handle(.commitFailed(flight: 1, jitter: 0)) == "timer")
            #expect(rig.handle(.timerFired(timer: rig.lastTimer)) == "deliver a")
        }
        #expect(rig.handle(.committed(flight: 1)) == "")
        #expect(rig.machine.depth == 0)
    }

    @Test func aSendThatCannotBePersistedIsNotSent() {
        var rig = QueueRig()
        rig.handle(.queued([queueItem("a", "1")]))
        #expect(rig.handle(.notPersisted(flight: 1, jitter: 0)) == "timer")
        #expect(rig.handle(.timerFired(timer: rig.lastTimer)) == "send a")
        let duplicate = WriteOutcome.duplicate(serverFault(409, "23505"))
        #expect(rig.handle(.answered(flight: rig.lastFlight, duplicate, jitter: 0)) == "refuse a")
    }
}
