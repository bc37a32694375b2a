import KizunaCore
import KizunaSync
import Testing

/// Rejections and unknown outcomes: which mutations leave the queue, which stay, and which are never repeated.
@Suite struct QueueRejectionTests {
    @Test(arguments: [413, 400])
    func aSharedRequestIsHalvedUntilTheOffendingRowIsAlone(status: Int) {
        var rig = QueueRig()
        let items = (1...8).map { queueItem("i\($0)", "\($0)", batch: "insert") }
        var pending = Self.sends(rig.handle(.queued(items)), from: 1)
        var delivered: Set<String> = []
        var rejected: [String] = []
        var requests = 0
        while !pending.isEmpty {
            let (flight, ids) = pending.removeFirst()
            requests += 1
            let fault = serverFault(status, "23514")
            let outcome: WriteOutcome =
                ids.contains("i6") ? (status == 413 ? .tooLarge(fault) : .rejected(fault)) : .delivered
            let words = rig.handle(.answered(flight: flight, outcome, jitter: 0))
            if words.hasPrefix("refuse") { rejected += ids }
            if words.hasPrefix("deliver") { delivered.formUnion(ids) }
            if words.hasPrefix("refuse") || words.hasPrefix("deliver") {
                pending += Self.sends(rig.handle(.committed(flight: flight)), from: rig.lastFlight)
            } else {
                pending += Self.sends(words, from: rig.lastFlight)
            }
        }
        #expect(rejected == ["i6"])
        #expect(delivered.count == 7)
        #expect(rig.machine.depth == 0)
        #expect(requests <= 12)
    }

    /// The in-flight requests that these effects start; `last` is the number of the last one.
    private static func sends(_ words: String, from last: Int) -> [(Int, [String])] {
        let sends = words.split(separator: ", ").filter { $0.hasPrefix("send ") }
        return sends.enumerated().map { index, word in
            (last - (sends.count - 1 - index), word.dropFirst(5).split(separator: "+").map(String.init))
        }
    }

    @Test func onlyMutationsOfARejectedRowAreParkedWithIt() {
        var rig = QueueRig()
        rig.handle(
            .queued([
                queueItem("make", "1"), queueItem("change", "1", makes: false), queueItem("other", "2", makes: false),
                queueItem("remove", "1", makes: false),
            ]))
        let words = rig.handle(.answered(flight: 1, .rejected(serverFault(400, "23502")), jitter: 0))
        #expect(words == "refuse make<change<remove")
        #expect(rig.handle(.committed(flight: 1)) == "")
        #expect(rig.machine.depth == 1)
    }

    /// The app sees a rejection when it is on disk, and may call `retry` before the queue handles its own commit.
    @Test func aMutationRetriedBeforeItsRejectionIsCommittedIsSent() {
        var rig = QueueRig()
        rig.handle(.queued([queueItem("make", "1", sequence: 1), queueItem("change", "1", makes: false, sequence: 2)]))
        rig.handle(.answered(flight: 1, .rejected(serverFault(400, "23502")), jitter: 0))
        let again = [queueItem("make", "1", sequence: 3), queueItem("change", "1", makes: false, sequence: 4)]
        #expect(rig.handle(.queued(again)) == "")
        #expect(rig.handle(.committed(flight: 1)) == "send make")
        rig.handle(.answered(flight: rig.lastFlight, .delivered, jitter: 0))
        #expect(rig.handle(.committed(flight: rig.lastFlight)) == "send change")
    }

    @Test func mutationsOfARowInsertedAgainAreNotParked() {
        var rig = QueueRig()
        rig.handle(
            .queued([
                queueItem("make", "1"), queueItem("remove", "1", makes: false), queueItem("again", "1"),
                queueItem("change", "1", makes: false),
            ]))
        let words = rig.handle(.answered(flight: 1, .rejected(serverFault(400, "23502")), jitter: 0))
        #expect(words == "refuse make<remove")
    }

    @Test func aMutationQueuedDuringTheCommitOfARejectionIsParked() {
        var rig = QueueRig()
        rig.handle(.queued([queueItem("make", "1")]))
        rig.handle(.answered(flight: 1, .rejected(serverFault(400, "23502")), jitter: 0))
        #expect(rig.handle(.queued([queueItem("change", "1", makes: false), queueItem("x", "2")])) == "send x")
        #expect(rig.handle(.committed(flight: 1)) == "refuse make<change")
        #expect(rig.handle(.committed(flight: rig.lastFlight)) == "")
        #expect(rig.machine.depth == 1)
    }

    @Test func aRejectedUpdateParksOnlyItsGroup() {
        var rig = QueueRig()
        rig.handle(
            .queued([
                queueItem("g1", "1", makes: false, group: "g"), queueItem("g2", "2", group: "g"),
                queueItem("later", "2", makes: false), queueItem("same", "1", makes: false),
            ]))
        let words = rig.handle(.answered(flight: 1, .rejected(serverFault(403, "42501")), jitter: 0))
        #expect(words == "refuse g1<g2<later")
    }

    @Test func aDuplicateIsRejectedUnlessTheRowMayBeItsOwn() {
        let duplicate = WriteOutcome.duplicate(serverFault(409, "23505"))
        var fresh = QueueRig()
        fresh.handle(.queued([queueItem("a", "1")]))
        #expect(fresh.handle(.answered(flight: 1, duplicate, jitter: 0)) == "refuse a")
        var resent = QueueRig()
        resent.handle(.queued([queueItem("a", "1", maybeSent: true)]))
        #expect(resent.handle(.answered(flight: 1, duplicate, jitter: 0)) == "look up a")
        #expect(resent.handle(.lookedUp(flight: 1, .present(["a"]), jitter: 0)) == "deliver a")
        var generated = QueueRig()
        generated.handle(.queued([queueItem("a", "1", isGenerated: true)]))
        #expect(generated.handle(.answered(flight: 1, duplicate, jitter: 0)) == "look up a")
    }

    /// Two requests of a killed process arrive late: one before the look-up, the other after it.
    @Test func anEarlierRequestMayArriveAfterTheLookUp() {
        let duplicate = WriteOutcome.duplicate(serverFault(409, "23505"))
        var rig = QueueRig()
        rig.handle(
            .queued([
                queueItem("a", "1", batch: "insert", maybeSent: true),
                queueItem("b", "2", batch: "insert", maybeSent: true),
            ]))
        #expect(rig.handle(.answered(flight: 1, duplicate, jitter: 0)) == "look up a+b")
        #expect(rig.handle(.lookedUp(flight: 1, .present(["a"]), jitter: 0)) == "note b?, deliver a, send b")
        #expect(rig.handle(.answered(flight: rig.lastFlight, duplicate, jitter: 0)) == "look up b")
        #expect(rig.handle(.lookedUp(flight: rig.lastFlight, .present(["b"]), jitter: 0)) == "deliver b")
        // A mutation that was sent for the first time was rolled back with the request.
        var fresh = QueueRig()
        fresh.handle(
            .queued([
                queueItem("a", "1", batch: "insert", isGenerated: true), queueItem("b", "2", batch: "insert"),
            ]))
        #expect(fresh.handle(.answered(flight: 1, duplicate, jitter: 0)) == "look up a+b")
        #expect(fresh.handle(.lookedUp(flight: 1, .present(["a"]), jitter: 0)) == "note b, deliver a, send b")
        #expect(fresh.handle(.answered(flight: fresh.lastFlight, duplicate, jitter: 0)) == "refuse b")
    }

    @Test func aGatewayTimeoutIsAnUnknownOutcome() {
        var rig = QueueRig()
        rig.handle(.queued([queueItem("a", "1")]))
        let late = WriteOutcome.judge(status: 504, failure: serverFault(504))
        #expect(rig.handle(.answered(flight: 1, late, jitter: 0)) == "note a?, timer")
        #expect(rig.handle(.timerFired(timer: rig.lastTimer)) == "send a")
        let duplicate = WriteOutcome.duplicate(serverFault(409, "23505"))
        #expect(rig.handle(.answered(flight: rig.lastFlight, duplicate, jitter: 0)) == "look up a")
    }

    @Test func anInsertWithoutAKeyIsNotRepeated() {
        var rig = QueueRig()
        rig.handle(.queued([queueItem("a", isRepeatable: false)]))
        let lost = QueueMachine.Event.unanswered(flight: 1, mayHaveBeenHandled: true, reason: "lost", jitter: 0)
        #expect(rig.handle(lost) == "note a?, timer")
        #expect(rig.handle(.timerFired(timer: rig.lastTimer)) == "refuse a")
        #expect(rig.handle(.committed(flight: rig.lastFlight)) == "")
        #expect(rig.machine.depth == 0)
        var proved = QueueRig()
        proved.handle(.queued([queueItem("a", isRepeatable: false)]))
        proved.handle(.unanswered(flight: 1, mayHaveBeenHandled: false, reason: "refused", jitter: 0))
        #expect(proved.handle(.timerFired(timer: proved.lastTimer)) == "send a")
        var found = QueueRig()
        #expect(found.handle(.queued([queueItem("a", isRepeatable: false, maybeSent: true)])) == "refuse a")
    }

    @Test func aRepeatedUpdateThatMatchesNoRowIsDelivered() {
        let nothing = WriteOutcome.matchedNothing(.noRowMatched(status: 200))
        var first = QueueRig()
        first.handle(.queued([queueItem("a", "1", makes: false)]))
        #expect(first.handle(.answered(flight: 1, nothing, jitter: 0)) == "refuse a")
        var again = QueueRig()
        again.handle(.queued([queueItem("a", "1", makes: false, maybeSent: true)]))
        #expect(again.handle(.answered(flight: 1, nothing, jitter: 0)) == "deliver a")
        // It is rejected when it is proved that no earlier request was applied.
        let proved = WriteOutcome.rejected(.noRowMatched(status: 200))
        var sure = QueueRig()
        sure.handle(.queued([queueItem("a", "1", makes: false, maybeSent: true)]))
        #expect(sure.handle(.answered(flight: 1, proved, jitter: 0)) == "refuse a")
    }

    /// A login page may respond with 403 for a minute. A rejection of PostgREST has a code.
    @Test func fiveResponsesWithoutACodeInAboutAMinuteAreARejection() {
        var rig = QueueRig()
        rig.handle(.queued([queueItem("a", "1", makes: false)]))
        for _ in 1...4 {
            let page = WriteOutcome.judge(status: 403, failure: serverFault(403))
            #expect(rig.handle(.answered(flight: rig.lastFlight, page, jitter: 1)) == "note a, timer")
            #expect(rig.handle(.timerFired(timer: rig.lastTimer)) == "send a")
        }
        #expect(rig.delays == [.milliseconds(300), .seconds(5), .seconds(15), .seconds(60)])
        let page = WriteOutcome.judge(status: 403, failure: serverFault(403))
        #expect(rig.handle(.answered(flight: rig.lastFlight, page, jitter: 1)) == "refuse a")
    }

    @Test(arguments: [400, 403, 404, 405, 406, 409, 410, 415, 418, 422, 451])
    func onlyAResponseWithACodeIsARejectionAtOnce(status: Int) {
        for (code, expected) in [("42501", "refuse a"), ("PGRST204", "refuse a"), (nil, "note a, timer")] {
            var rig = QueueRig()
            rig.handle(.queued([queueItem("a", "1", makes: false)]))
            let outcome = WriteOutcome.judge(status: status, failure: serverFault(status, code))
            #expect(rig.handle(.answered(flight: 1, outcome, jitter: 0)) == expected, "\(status) \(code ?? "-")")
        }
    }

    @Test func fiveUnsettledResponsesAreARejection() {
        var rig = QueueRig()
        rig.handle(.queued([queueItem("bad", "1", makes: false), queueItem("good", "2", makes: false)]))
        rig.handle(.answered(flight: 2, .delivered, jitter: 0))
        rig.handle(.committed(flight: 2))
        var flight = 1
        for _ in 1...4 {
            let words = rig.handle(.answered(flight: flight, .unsettled(serverFault(500, "XX000")), jitter: 0))
            #expect(words == "note bad, timer")
            #expect(rig.handle(.timerFired(timer: rig.lastTimer)) == "send bad")
            flight = rig.lastFlight
        }
        #expect(rig.handle(.answered(flight: flight, .unsettled(serverFault(500, "XX000")), jitter: 0)) == "refuse bad")
    }
}
