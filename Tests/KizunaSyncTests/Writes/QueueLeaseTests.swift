import KizunaSync
import Testing

/// The queue of a process that shares its store with another process.
@Suite struct QueueLeaseTests {
    @Test func nothingIsSentWhileAnotherProcessHoldsTheLease() {
        var rig = QueueRig()
        #expect(rig.handle(.leaseHeldByOther(.seconds(7))) == "timer")
        #expect(rig.delays == [.seconds(7)])
        #expect(rig.handle(.queued([queueItem("a", "1")])) == "")
        #expect(rig.machine.state == .draining, "the other process sends")
        #expect(
            rig.handle(.retryRequested(respectingRetryAfter: true)) == "", "a requested retry does not take the lease")
        #expect(rig.handle(.leaseHeldByOther(.seconds(9))) == "", "one timer is enough")
        #expect(rig.handle(.leaseHeldByOther(nil)) == "cancel, send a")
    }

    @Test func theLeaseIsTriedAgainWhenItExpires() {
        var rig = QueueRig()
        rig.handle(.queued([queueItem("a", "1")]))
        #expect(rig.handle(.leaseLost(flight: 1, wasSent: false, heldByOther: .seconds(3))) == "timer")
        #expect(rig.handle(.timerFired(timer: rig.lastTimer)) == "send a")
        #expect(rig.handle(.leaseLost(flight: rig.lastFlight, wasSent: false, heldByOther: .seconds(3))) == "timer")
        #expect(rig.handle(.timerFired(timer: rig.lastTimer)) == "send a")
    }

    /// A duplicate is looked up, although this process sends the mutation for the first time.
    @Test func aMutationSentByAnotherProcessIsSentAsPossiblySent() {
        var rig = QueueRig()
        rig.handle(.queued([queueItem("a", "1")]))
        #expect(rig.machine.assumed(of: 1) == ["a": false])
        #expect(rig.handle(.leaseLost(flight: 1, wasSent: true, heldByOther: nil)) == "send a")
        #expect(rig.machine.assumed(of: rig.lastFlight) == ["a": true])
        let duplicate = WriteOutcome.duplicate(serverFault(409, "23505"))
        #expect(rig.handle(.answered(flight: rig.lastFlight, duplicate, jitter: 0)) == "look up a")
    }

    @Test func aChangeOfAnInFlightMutationAppliesToItsResponse() {
        var rig = QueueRig()
        rig.handle(.queued([queueItem("a", "1")]))
        rig.handle(.rewritten(queueItem("a", "1", maybeSent: true)))
        #expect(rig.machine.assumed(of: 1) == ["a": true])
        #expect(rig.handle(.leaseLost(flight: 1, wasSent: false, heldByOther: nil)) == "send a")
        #expect(rig.machine.assumed(of: rig.lastFlight) == ["a": true], "else the same assumption would fail again")
    }

    @Test func anUnrepeatableMutationIsNotRejectedWithoutTheLease() {
        var rig = QueueRig()
        rig.handle(.leaseHeldByOther(.seconds(7)))
        #expect(rig.handle(.queued([queueItem("a", isRepeatable: false, maybeSent: true)])) == "")
        #expect(rig.handle(.leaseHeldByOther(nil)) == "cancel, refuse a")
    }

    @Test func aMutationEndedByAnotherProcessIsRemoved() {
        var rig = QueueRig()
        rig.handle(.queued([queueItem("a", "1"), queueItem("b", "1")]))
        rig.handle(.withdrawn(["a"]))
        #expect(rig.handle(.leaseLost(flight: 1, wasSent: true, heldByOther: nil)) == "")
        #expect(rig.machine.depth == 1)
    }
}
