import KizunaSync
import Testing

/// Every state of an item, and every event that can meet it.
@Suite struct QueueCellTests {
    enum State: String, CaseIterable {
        case waiting, sending, lookingUp, settling, parked
    }

    enum Event: String, CaseIterable {
        case queuedAgain, withdrawn, delivered, unanswered, notPersisted, verifiedPresent, verifiedAbsent, committed
        case commitFailed, timerFired, pathUp, pathDown, switchedOn, switchedOff, sessionReady, sessionLost
        case retryRequested, retryRequestedAtOnce, ended, leaseLost, decidedAgain, leaseHeldByOther, leaseFree
        case forbidden, askedToLookUp, lookUpFailed
    }

    private static let table: [State: [Event: String]] = [
        .waiting: [
            .queuedAgain: "", .withdrawn: "", .delivered: "", .unanswered: "", .notPersisted: "", .verifiedPresent: "",
            .verifiedAbsent: "", .committed: "", .commitFailed: "", .timerFired: "", .pathUp: "", .pathDown: "",
            .switchedOn: "send a", .switchedOff: "", .sessionReady: "", .sessionLost: "",
            .retryRequested: "", .retryRequestedAtOnce: "", .ended: "",
            .leaseLost: "timer", .decidedAgain: "", .leaseHeldByOther: "timer", .leaseFree: "",
            .forbidden: "", .askedToLookUp: "", .lookUpFailed: "",
        ],
        .sending: [
            .queuedAgain: "", .withdrawn: "", .delivered: "deliver a", .unanswered: "note a?, timer",
            .notPersisted: "timer", .verifiedPresent: "", .verifiedAbsent: "", .committed: "", .commitFailed: "",
            .timerFired: "", .pathUp: "", .pathDown: "", .switchedOn: "", .switchedOff: "", .sessionReady: "",
            .sessionLost: "", .retryRequested: "", .retryRequestedAtOnce: "", .ended: "",
            .leaseLost: "timer", .decidedAgain: "send a", .leaseHeldByOther: "timer", .leaseFree: "",
            .forbidden: "resend a", .askedToLookUp: "look up a", .lookUpFailed: "",
        ],
        .lookingUp: [
            .queuedAgain: "", .withdrawn: "", .delivered: "deliver a", .unanswered: "note a?, timer",
            .notPersisted: "timer", .verifiedPresent: "deliver a", .verifiedAbsent: "refuse a", .committed: "",
            .commitFailed: "", .timerFired: "", .pathUp: "", .pathDown: "", .switchedOn: "", .switchedOff: "",
            .sessionReady: "", .sessionLost: "", .retryRequested: "", .retryRequestedAtOnce: "", .ended: "",
            .leaseLost: "timer", .decidedAgain: "send a", .leaseHeldByOther: "timer", .leaseFree: "",
            .forbidden: "resend a", .askedToLookUp: "look up a", .lookUpFailed: "note a?, timer",
        ],
        .settling: [
            .queuedAgain: "", .withdrawn: "", .delivered: "", .unanswered: "", .notPersisted: "", .verifiedPresent: "",
            .verifiedAbsent: "", .committed: "", .commitFailed: "timer", .timerFired: "", .pathUp: "", .pathDown: "",
            .switchedOn: "", .switchedOff: "", .sessionReady: "", .sessionLost: "", .retryRequested: "",
            .retryRequestedAtOnce: "",
            .ended: "",
            .leaseLost: "timer", .decidedAgain: "send a", .leaseHeldByOther: "timer", .leaseFree: "",
            .forbidden: "", .askedToLookUp: "", .lookUpFailed: "",
        ],
        .parked: [
            .queuedAgain: "", .withdrawn: "", .delivered: "", .unanswered: "", .notPersisted: "", .verifiedPresent: "",
            .verifiedAbsent: "", .committed: "", .commitFailed: "", .timerFired: "send a", .pathUp: "cancel, send a",
            .pathDown: "timer", .switchedOn: "cancel, send a", .switchedOff: "", .sessionReady: "cancel, send a",
            .sessionLost: "", .retryRequested: "cancel, send a", .retryRequestedAtOnce: "cancel, send a",
            .ended: "cancel",
            .leaseLost: "timer", .decidedAgain: "", .leaseHeldByOther: "timer", .leaseFree: "",
            .forbidden: "", .askedToLookUp: "", .lookUpFailed: "",
        ],
    ]

    @Test(arguments: State.allCases)
    func everyCellIsAsTheTableSays(_ state: State) throws {
        let cells = try #require(Self.table[state])
        for event in Event.allCases {
            let expected = try #require(cells[event], "\(state) × \(event) is missing")
            var rig = Self.rig(in: state)
            #expect(rig.handle(Self.event(event, rig)) == expected, "\(state) × \(event)")
        }
    }

    /// Whatever has happened, the item is still delivered in the end: no cell loses it.
    @Test(arguments: State.allCases)
    func afterEveryCellTheItemStillComesToItsEnd(_ state: State) {
        for event in Event.allCases where event != .ended && event != .withdrawn {
            var rig = Self.rig(in: state)
            var words = [rig.handle(Self.event(event, rig))]
            for wake: QueueMachine.Event in [
                .networkSwitched(isEnabled: true), .sessionChanged(isReady: true), .pathChanged(isUp: true),
                .retryRequested(respectingRetryAfter: true),
            ] { words.append(rig.handle(wake)) }
            for _ in 0..<10 where rig.machine.depth > 0 {
                words.append(rig.handle(.timerFired(timer: rig.lastTimer)))
                words.append(rig.handle(.answered(flight: rig.lastFlight, .delivered, jitter: 0)))
                words.append(rig.handle(.committed(flight: rig.lastFlight)))
            }
            #expect(rig.machine.depth == 0, "\(state) × \(event): \(words)")
        }
    }

    private static func rig(in state: State) -> QueueRig {
        var rig = QueueRig(isEnabled: state != .waiting)
        rig.handle(.queued([queueItem("a", "1", maybeSent: state == .lookingUp)]))
        switch state {
        case .waiting, .sending: break
        case .lookingUp: rig.handle(.answered(flight: 1, .duplicate(serverFault(409, "23505")), jitter: 0))
        case .settling: rig.handle(.answered(flight: 1, .delivered, jitter: 0))
        case .parked: rig.handle(.answered(flight: 1, .unsettled(serverFault(500, "XX000")), jitter: 0))
        }
        return rig
    }

    private static func event(_ event: Event, _ rig: QueueRig) -> QueueMachine.Event {
        switch event {
        case .queuedAgain: .queued([queueItem("a", "1")])
        case .withdrawn: .withdrawn(["a"])
        case .delivered: .answered(flight: 1, .delivered, jitter: 0)
        case .unanswered: .unanswered(flight: 1, mayHaveBeenHandled: true, reason: "test", jitter: 0)
        case .notPersisted: .notPersisted(flight: 1, jitter: 0)
        case .verifiedPresent: .lookedUp(flight: 1, .present(["a"]), jitter: 0)
        case .verifiedAbsent: .lookedUp(flight: 1, .present([]), jitter: 0)
        case .committed: .committed(flight: 1)
        case .commitFailed: .commitFailed(flight: 1, jitter: 0)
        case .timerFired: .timerFired(timer: rig.lastTimer)
        case .pathUp: .pathChanged(isUp: true)
        case .pathDown: .pathChanged(isUp: false)
        case .switchedOn: .networkSwitched(isEnabled: true)
        case .switchedOff: .networkSwitched(isEnabled: false)
        case .sessionReady: .sessionChanged(isReady: true)
        case .sessionLost: .sessionChanged(isReady: false)
        case .retryRequested: .retryRequested(respectingRetryAfter: true)
        case .retryRequestedAtOnce: .retryRequested(respectingRetryAfter: false)
        case .ended: .ended
        case .leaseLost: .leaseLost(flight: 1, wasSent: false, heldByOther: .seconds(5))
        case .decidedAgain: .leaseLost(flight: 1, wasSent: true, heldByOther: nil)
        case .leaseHeldByOther: .leaseHeldByOther(.seconds(5))
        case .leaseFree: .leaseHeldByOther(nil)
        case .forbidden: .answered(flight: 1, .forbidden(serverFault(403, "42501")), jitter: 0)
        case .askedToLookUp: .answered(flight: 1, .lookUp(.movedRow(.noRowMatched(status: 200))), jitter: 0)
        case .lookUpFailed: .lookedUp(flight: 1, .failed, jitter: 0)
        }
    }
}
