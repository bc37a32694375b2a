import KizunaCore
import KizunaStore
import KizunaSync
import Testing

/// The order of sending, and which mutations are sent at the same time (Q2).
@Suite struct QueueOrderTests {
    @Test func mutationsOfOneRowAreSentOneAfterAnother() {
        var rig = QueueRig()
        #expect(rig.handle(.queued([queueItem("a", "1"), queueItem("b", "1", makes: false)])) == "send a")
        #expect(rig.handle(.answered(flight: 1, .delivered, jitter: 0)) == "deliver a")
        #expect(rig.handle(.committed(flight: 1)) == "send b")
    }

    @Test func atMostFourRequestsAreInFlight() {
        var rig = QueueRig()
        let items = (1...6).map { queueItem("w\($0)", "\($0)", makes: false) }
        #expect(rig.handle(.queued(items)) == "send w1, send w2, send w3, send w4")
        rig.handle(.answered(flight: 2, .delivered, jitter: 0))
        #expect(rig.handle(.committed(flight: 2)) == "send w5")
    }

    @Test func anUnkeyedMutationIsABarrierInItsTableOnly() {
        var rig = QueueRig()
        let barrier = QueueItem(
            id: "all", sequence: 0, table: notes, tokens: [.wholeTable(notes)], signature: nil, bytes: 1)
        let other = queueItem("other", "1", table: TableID(name: "lists"), makes: false)
        let words = rig.handle(
            .queued([queueItem("before", "1", makes: false), barrier, queueItem("after", "2", makes: false), other]))
        #expect(words == "send before, send other")
        rig.handle(.answered(flight: 1, .delivered, jitter: 0))
        #expect(rig.handle(.committed(flight: 1)) == "send all")
        rig.handle(.answered(flight: rig.lastFlight, .delivered, jitter: 0))
        #expect(rig.handle(.committed(flight: rig.lastFlight)) == "send after")
    }

    @Test func aChildWaitsForItsDeclaredParent() {
        var rig = QueueRig()
        let lists = TableID(name: "lists")
        let parent = queueItem("parent", "p", table: lists)
        let child = queueItem("child", "c", parents: [.parent(lists, RowKey(text: "p"))])
        #expect(rig.handle(.queued([parent, child])) == "send parent")
        rig.handle(.answered(flight: 1, .delivered, jitter: 0))
        #expect(rig.handle(.committed(flight: 1)) == "send child")
    }

    @Test func aGroupIsSentInOrderAndDoesNotDelayOthers() {
        var rig = QueueRig()
        let words = rig.handle(
            .queued([queueItem("g1", "1", group: "g"), queueItem("g2", "2", group: "g"), queueItem("x", "3")]))
        #expect(words == "send g1, send x")
    }

    @Test func mutationsLoadedAtTheStartAreSentBeforeNewerOnes() {
        var rig = QueueRig(isEnabled: false)
        rig.handle(.queued([queueItem("new", "1", makes: false, sequence: 9)]))
        rig.handle(.queued([queueItem("old", "1", sequence: 3), queueItem("new", "1", makes: false, sequence: 9)]))
        #expect(rig.handle(.networkSwitched(isEnabled: true)) == "send old")
    }

    @Test func insertsWithEqualColumnsShareARequestWithinTheLimits() {
        var limits = QueueMachine.Limits()
        limits.batchRows = 3
        limits.batchBytes = 100
        var rig = QueueRig(limits: limits)
        let items = (1...7).map { queueItem("i\($0)", "\($0)", batch: "insert", bytes: $0 == 5 ? 95 : 10) }
        #expect(rig.handle(.queued(items)) == "send i1+i2+i3, send i4, send i5, send i6+i7")
        var mixed = QueueRig(limits: limits)
        let words = mixed.handle(
            .queued([
                queueItem("a", "1", batch: "x"), queueItem("b", "2", batch: "y"), queueItem("c", "3", batch: "y"),
                queueItem("d", "3", batch: "y"),
            ]))
        #expect(words == "send a, send b+c")
    }

    @Test func anInsertWithAMissingReferenceWaitsForAllEarlierMutations() {
        var rig = QueueRig()
        rig.handle(.queued([queueItem("first", "1", makes: false), queueItem("child", "2", makes: false)]))
        let missing = WriteOutcome.missingReference(serverFault(409, "23503"))
        #expect(rig.handle(.answered(flight: 2, missing, jitter: 0)) == "note child")
        rig.handle(.answered(flight: 1, .delivered, jitter: 0))
        #expect(rig.handle(.committed(flight: 1)) == "send child")
        #expect(rig.handle(.answered(flight: rig.lastFlight, missing, jitter: 0)) == "refuse child")
    }
}
