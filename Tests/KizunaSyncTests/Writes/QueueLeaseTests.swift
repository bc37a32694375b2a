import KizunaSync
import Testing

/// The queue of a process that is not alone with its store: whose turn it is to send.
@Suite struct QueueTurnTests {
    @Test func nothingIsSentInAnothersTurn() {
        var rig = QueueRig()
        #expect(rig.handle(.leaseHeldByOther(.seconds(7))) == "timer")
        #expect(rig.delays == [.seconds(7)])
        #expect(rig.handle(.queued([queueItem("a", "1")])) == "")
        #expect(rig.machine.state == .draining, "somebody does")
        #expect(rig.handle(.hurried) == "", "no hurry makes it one's own")
        #expect(rig.handle(.leaseHeldByOther(.seconds(9))) == "", "one timer is enough")
        #expect(rig.handle(.leaseHeldByOther(nil)) == "cancel, send a")
    }

    @Test func atItsEndTheTurnIsLookedForAgain() {
        var rig = QueueRig()
        rig.handle(.queued([queueItem("a", "1")]))
        #expect(rig.handle(.leaseLost(flight: 1, wasSent: false, heldByOther: .seconds(3))) == "timer")
        #expect(rig.handle(.timerFired(timer: rig.lastTimer)) == "send a")
        #expect(rig.handle(.leaseLost(flight: rig.lastFlight, wasSent: false, heldByOther: .seconds(3))) == "timer")
        #expect(rig.handle(.timerFired(timer: rig.lastTimer)) == "send a")
    }

    /// What another may have sent is checked by its key, though this process sends it for the first time.
    @Test func aDecisionOnOldNewsIsMadeAgainOnTheNew() {
        var rig = QueueRig()
        rig.handle(.queued([queueItem("a", "1")]))
        #expect(rig.machine.assumed(of: 1) == ["a": false])
        #expect(rig.handle(.leaseLost(flight: 1, wasSent: true, heldByOther: nil)) == "send a")
        #expect(rig.machine.assumed(of: rig.lastFlight) == ["a": true])
        let duplicate = WriteOutcome.duplicate(serverFault(409, "23505"))
        #expect(rig.handle(.answered(flight: rig.lastFlight, duplicate, jitter: 0)) == "verify a")
    }

    @Test func newsOfAWriteOnItsWayCountForItsAnswer() {
        var rig = QueueRig()
        rig.handle(.queued([queueItem("a", "1")]))
        rig.handle(.rewritten(queueItem("a", "1", maybeSent: true)))
        #expect(rig.machine.assumed(of: 1) == ["a": true])
        #expect(rig.handle(.leaseLost(flight: 1, wasSent: false, heldByOther: nil)) == "send a")
        #expect(rig.machine.assumed(of: rig.lastFlight) == ["a": true], "or it would be decided so for ever")
    }

    @Test func whatMayNotBeSentTwiceIsNotGivenUpInAnothersTurn() {
        var rig = QueueRig()
        rig.handle(.leaseHeldByOther(.seconds(7)))
        #expect(rig.handle(.queued([queueItem("a", isRepeatable: false, maybeSent: true)])) == "")
        #expect(rig.handle(.leaseHeldByOther(nil)) == "cancel, refuse a")
    }

    @Test func aWriteThatLeftInAnothersTurnIsForgotten() {
        var rig = QueueRig()
        rig.handle(.queued([queueItem("a", "1"), queueItem("b", "1")]))
        rig.handle(.withdrawn(["a"]))
        #expect(rig.handle(.leaseLost(flight: 1, wasSent: true, heldByOther: nil)) == "")
        #expect(rig.machine.depth == 1)
    }
}
