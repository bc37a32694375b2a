import KizunaSync
import Testing

/// Every situation × event of the refresh machine: its effects, where it stands then, and what it reads as. A state in
/// capitals is published.
@Suite struct RefreshMachineCellTests {
    private static let cells: [RefreshSituation: [RefreshEventKind: String]] = [
        .idle: [
            .needed: "send REFRESHING → attempting refreshing",
            .cleared: "send REFRESHING → attempting refreshing",
            .ownerChanged: "REFRESHING → held refreshing",
            .responseStored: "→ idle idle",
            .responseRejected: "→ idle idle",
            .responseUntrusted: "→ idle idle",
            .failed: "→ idle idle",
            .tokenRejected: "→ idle idle",
            .timerFired: "→ idle idle",
            .pathDown: "→ idle idle",
            .pathUp: "→ idle idle",
            .switchedOff: "→ idle idle",
            .switchedOn: "→ idle idle",
            .sessionLost: "→ idle idle",
            .sessionSettled: "→ idle idle",
            .hurried: "→ idle idle",
            .woken: "→ idle idle",
            .ended: "→ ended idle",
        ],
        .attempting: [
            .needed: "→ attempting refreshing",
            .cleared: "cancelSend send → attempting refreshing",
            .ownerChanged: "cancelSend → held refreshing",
            .responseStored: "IDLE → idle idle",
            .responseRejected: "send → attempting refreshing",
            .responseUntrusted: "wait 0.3 → waiting refreshing",
            .failed: "wait 0.3 → waiting refreshing",
            .tokenRejected: "wait 0.3 → waiting refreshing",
            .timerFired: "→ attempting refreshing",
            .pathDown: "→ attempting refreshing",
            .pathUp: "→ attempting refreshing",
            .switchedOff: "PAUSED → attempting paused",
            .switchedOn: "→ attempting refreshing",
            .sessionLost: "cancelSend → held refreshing",
            .sessionSettled: "→ attempting refreshing",
            .hurried: "→ attempting refreshing",
            .woken: "→ attempting refreshing",
            .ended: "cancelSend → ended refreshing",
        ],
        .attemptingDown: [
            .needed: "→ attempting paused",
            .cleared: "cancelSend send → attempting paused",
            .ownerChanged: "cancelSend → held paused",
            .responseStored: "IDLE → idle idle",
            .responseRejected: "send → attempting paused",
            .responseUntrusted: "wait 0.3 → waiting paused",
            .failed: "wait 0.3 → waiting paused",
            .tokenRejected: "wait 0.3 → waiting paused",
            .timerFired: "→ attempting paused",
            .pathDown: "→ attempting paused",
            .pathUp: "REFRESHING → attempting refreshing",
            .switchedOff: "→ attempting paused",
            .switchedOn: "→ attempting paused",
            .sessionLost: "cancelSend → held paused",
            .sessionSettled: "→ attempting paused",
            .hurried: "→ attempting paused",
            .woken: "→ attempting paused",
            .ended: "cancelSend → ended paused",
        ],
        .attemptingStalled: [
            .needed: "→ attempting stalled",
            .cleared: "cancelSend send REFRESHING → attempting refreshing",
            .ownerChanged: "cancelSend REFRESHING → held refreshing",
            .responseStored: "IDLE → idle idle",
            .responseRejected: "send → attempting stalled",
            .responseUntrusted: "wait 0.3 REFRESHING → waiting refreshing",
            .failed: "wait 15.0 → waiting stalled",
            .tokenRejected: "wait 5.0 → waiting stalled",
            .timerFired: "→ attempting stalled",
            .pathDown: "→ attempting stalled",
            .pathUp: "→ attempting stalled",
            .switchedOff: "PAUSED → attempting paused",
            .switchedOn: "→ attempting stalled",
            .sessionLost: "cancelSend REFRESHING → held refreshing",
            .sessionSettled: "→ attempting stalled",
            .hurried: "→ attempting stalled",
            .woken: "→ attempting stalled",
            .ended: "cancelSend → ended stalled",
        ],
        .waiting: [
            .needed: "→ waiting refreshing",
            .cleared: "cancelTimer send → attempting refreshing",
            .ownerChanged: "cancelTimer → held refreshing",
            .responseStored: "→ waiting refreshing",
            .responseRejected: "→ waiting refreshing",
            .responseUntrusted: "→ waiting refreshing",
            .failed: "→ waiting refreshing",
            .tokenRejected: "→ waiting refreshing",
            .timerFired: "send → attempting refreshing",
            .pathDown: "PAUSED → waiting paused",
            .pathUp: "→ waiting refreshing",
            .switchedOff: "cancelTimer PAUSED → held paused",
            .switchedOn: "→ waiting refreshing",
            .sessionLost: "cancelTimer → held refreshing",
            .sessionSettled: "cancelTimer send → attempting refreshing",
            .hurried: "cancelTimer send → attempting refreshing",
            .woken: "cancelTimer send → attempting refreshing",
            .ended: "cancelTimer → ended refreshing",
        ],
        .waitingDown: [
            .needed: "→ waiting paused",
            .cleared: "cancelTimer send → attempting paused",
            .ownerChanged: "cancelTimer → held paused",
            .responseStored: "→ waiting paused",
            .responseRejected: "→ waiting paused",
            .responseUntrusted: "→ waiting paused",
            .failed: "→ waiting paused",
            .tokenRejected: "→ waiting paused",
            .timerFired: "send → attempting paused",
            .pathDown: "→ waiting paused",
            .pathUp: "cancelTimer send REFRESHING → attempting refreshing",
            .switchedOff: "cancelTimer → held paused",
            .switchedOn: "→ waiting paused",
            .sessionLost: "cancelTimer → held paused",
            .sessionSettled: "cancelTimer send → attempting paused",
            .hurried: "cancelTimer send → attempting paused",
            .woken: "cancelTimer send → attempting paused",
            .ended: "cancelTimer → ended paused",
        ],
        .waitingStalled: [
            .needed: "→ waiting stalled",
            .cleared: "cancelTimer send REFRESHING → attempting refreshing",
            .ownerChanged: "cancelTimer REFRESHING → held refreshing",
            .responseStored: "→ waiting stalled",
            .responseRejected: "→ waiting stalled",
            .responseUntrusted: "→ waiting stalled",
            .failed: "→ waiting stalled",
            .tokenRejected: "→ waiting stalled",
            .timerFired: "send → attempting stalled",
            .pathDown: "PAUSED → waiting paused",
            .pathUp: "→ waiting stalled",
            .switchedOff: "cancelTimer PAUSED → held paused",
            .switchedOn: "→ waiting stalled",
            .sessionLost: "cancelTimer REFRESHING → held refreshing",
            .sessionSettled: "cancelTimer send → attempting stalled",
            .hurried: "cancelTimer send → attempting stalled",
            .woken: "cancelTimer send → attempting stalled",
            .ended: "cancelTimer → ended stalled",
        ],
        .heldBySwitch: [
            .needed: "→ held paused",
            .cleared: "→ held paused",
            .ownerChanged: "→ held paused",
            .responseStored: "→ held paused",
            .responseRejected: "→ held paused",
            .responseUntrusted: "→ held paused",
            .failed: "→ held paused",
            .tokenRejected: "→ held paused",
            .timerFired: "→ held paused",
            .pathDown: "→ held paused",
            .pathUp: "→ held paused",
            .switchedOff: "→ held paused",
            .switchedOn: "send REFRESHING → attempting refreshing",
            .sessionLost: "→ held paused",
            .sessionSettled: "→ held paused",
            .hurried: "→ held paused",
            .woken: "→ held paused",
            .ended: "→ ended paused",
        ],
        .heldBySession: [
            .needed: "→ held refreshing",
            .cleared: "→ held refreshing",
            .ownerChanged: "→ held refreshing",
            .responseStored: "→ held refreshing",
            .responseRejected: "→ held refreshing",
            .responseUntrusted: "→ held refreshing",
            .failed: "→ held refreshing",
            .tokenRejected: "→ held refreshing",
            .timerFired: "→ held refreshing",
            .pathDown: "PAUSED → held paused",
            .pathUp: "→ held refreshing",
            .switchedOff: "PAUSED → held paused",
            .switchedOn: "→ held refreshing",
            .sessionLost: "→ held refreshing",
            .sessionSettled: "send → attempting refreshing",
            .hurried: "→ held refreshing",
            .woken: "→ held refreshing",
            .ended: "→ ended refreshing",
        ],
        .heldByOwner: [
            .needed: "send → attempting refreshing",
            .cleared: "→ held refreshing",
            .ownerChanged: "→ held refreshing",
            .responseStored: "→ held refreshing",
            .responseRejected: "→ held refreshing",
            .responseUntrusted: "→ held refreshing",
            .failed: "→ held refreshing",
            .tokenRejected: "→ held refreshing",
            .timerFired: "→ held refreshing",
            .pathDown: "PAUSED → held paused",
            .pathUp: "→ held refreshing",
            .switchedOff: "PAUSED → held paused",
            .switchedOn: "→ held refreshing",
            .sessionLost: "→ held refreshing",
            .sessionSettled: "→ held refreshing",
            .hurried: "→ held refreshing",
            .woken: "→ held refreshing",
            .ended: "→ ended refreshing",
        ],
        .ended: [
            .needed: "→ ended refreshing",
            .cleared: "→ ended refreshing",
            .ownerChanged: "→ ended refreshing",
            .responseStored: "→ ended refreshing",
            .responseRejected: "→ ended refreshing",
            .responseUntrusted: "→ ended refreshing",
            .failed: "→ ended refreshing",
            .tokenRejected: "→ ended refreshing",
            .timerFired: "→ ended refreshing",
            .pathDown: "→ ended refreshing",
            .pathUp: "→ ended refreshing",
            .switchedOff: "→ ended refreshing",
            .switchedOn: "→ ended refreshing",
            .sessionLost: "→ ended refreshing",
            .sessionSettled: "→ ended refreshing",
            .hurried: "→ ended refreshing",
            .woken: "→ ended refreshing",
            .ended: "→ ended refreshing",
        ],
    ]

    @Test(arguments: RefreshSituation.allCases)
    func everyEventHasItsCell(in situation: RefreshSituation) {
        for kind in RefreshEventKind.allCases {
            var (machine, id) = situation.make()
            let effects = machine.handle(kind.event(about: id))
            let words = effects.map(\.word) + ["→", "\(machine.stage)", machine.state.word]
            #expect(
                Self.cells[situation]?[kind] == words.joined(separator: " "), "\(situation.rawValue) × \(kind.rawValue)"
            )
        }
    }

    @Test func noCellIsMissingAndEveryStageIsReached() {
        let reached = Set(RefreshSituation.allCases.map { $0.make().machine.stage })
        #expect(reached == Set(RefreshMachine.Stage.allCases))
        for situation in RefreshSituation.allCases {
            #expect(Set(Self.cells[situation]?.keys.map { $0 } ?? []) == Set(RefreshEventKind.allCases))
        }
    }

    @Test func anEventOfAnotherAttemptOrTimerChangesNothing() {
        let dated: [RefreshEventKind] = [
            .responseStored, .responseRejected, .responseUntrusted, .failed, .tokenRejected, .timerFired,
        ]
        for situation in RefreshSituation.allCases {
            for kind in dated {
                var (machine, id) = situation.make()
                let before = (machine.stage, machine.state, machine.attempt)
                #expect(machine.handle(kind.event(about: id - 1)).isEmpty)
                #expect((machine.stage, machine.state, machine.attempt) == before)
            }
        }
    }
}
