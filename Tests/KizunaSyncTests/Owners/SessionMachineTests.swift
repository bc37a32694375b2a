import KizunaCore
import KizunaSync
import Testing

/// A session machine in a phase, with what led it there.
private enum Phase: CaseIterable {
    case restoring
    case none
    case refreshing
    case held
    case waiting
    case lost

    static let kept = KizunaAuthSession(userID: "alice", refreshToken: "r1")

    static func grant(_ user: String = "alice", _ serial: Int = 1) -> AuthGrant {
        AuthGrant(
            session: KizunaAuthSession(userID: user, refreshToken: "r\(serial)"), accessToken: "a\(serial)",
            lifetime: .seconds(3600))
    }

    var machine: SessionMachine {
        var machine = SessionMachine()
        switch self {
        case .restoring: break
        case .none: _ = machine.handle(.restored(nil))
        case .refreshing: _ = machine.handle(.restored(Self.kept))
        case .held:
            _ = machine.handle(.restored(Self.kept))
            _ = machine.handle(.refreshed(generation: 1, Self.grant()))
        case .waiting:
            _ = machine.handle(.restored(Self.kept))
            _ = machine.handle(.refreshFailed(generation: 1, isRejected: false, jitter: 0))
        case .lost:
            _ = machine.handle(.restored(Self.kept))
            _ = machine.handle(.refreshFailed(generation: 1, isRejected: true, jitter: 0))
        }
        return machine
    }
}

@Suite struct SessionMachineTests {
    private typealias Effect = SessionMachine.Effect

    /// What each phase does with each event; a phase that is not named does nothing.
    private func check(
        _ event: SessionMachine.Event, _ expected: [Phase: [Effect]], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for phase in Phase.allCases {
            var machine = phase.machine
            #expect(
                machine.handle(event) == expected[phase] ?? [], "\(phase) takes \(event)",
                sourceLocation: sourceLocation)
        }
    }

    @Test func aStoredSessionIsTakenWhileRestoringAlone() {
        check(.restored(Phase.kept), [.restoring: [.refresh(generation: 1, token: "r1")]])
    }

    @Test func thatNoSessionIsStoredReadsAsSignedOutWhileRestoringAlone() {
        check(.restored(nil), [.restoring: [.publish(.signedOut)]])
    }

    @Test func aStoreThatCannotBeReadIsAskedAgain() {
        check(.notRestored(jitter: 0), [.restoring: [.startTimer(timer: 1, after: .milliseconds(300).jittered(0))]])
    }

    @Test func aSignOutIsOneInEveryPhase() {
        let end: [Effect] = [.save(nil), .publish(.signedOut), .responseWaiters(token: nil)]
        check(
            .signedOut,
            [
                .restoring: end, .none: end, .refreshing: end, .held: [.cancelTimer(timer: 1)] + end,
                .waiting: [.cancelTimer(timer: 1)] + end, .lost: end,
            ])
    }

    @Test func aSignInNobodyWaitsForIsEndedOnTheServer() {
        let revoked: [Effect] = [.revoke(accessToken: "a7")]
        check(
            .signedIn(entry: 1, Phase.grant("bruno", 7)),
            Dictionary(uniqueKeysWithValues: Phase.allCases.map { ($0, revoked) }))
    }

    @Test func aSignInCountsInEveryPhase() {
        for phase in Phase.allCases {
            var machine = phase.machine
            #expect(machine.handle(.signInBegan(entry: 1)) == [])
            let effects = machine.handle(.signedIn(entry: 1, Phase.grant("bruno", 7)))
            #expect(effects.contains(.publish(.signedIn(userID: "bruno", accessToken: "a7"))), "\(phase)")
            #expect(effects.contains(.save(KizunaAuthSession(userID: "bruno", refreshToken: "r7"))), "\(phase)")
            #expect(machine.userID == "bruno")
            // What was under way before it counts no more, whatever it says.
            let late = machine.handle(.refreshed(generation: 1, Phase.grant("alice", 9)))
            #expect(late == [], "\(phase)")
            #expect(machine.handle(.refreshFailed(generation: 1, isRejected: true, jitter: 0)) == [], "\(phase)")
            #expect(machine.handle(.restored(Phase.kept)) == [], "\(phase)")
            #expect(machine.userID == "bruno")
            #expect(machine.token == "a7")
        }
    }

    @Test func ofTwoSignInsTheLastAskedForCountsInEitherOrderOfAnswers() {
        for isFirstAnsweredFirst in [true, false] {
            var machine = Phase.none.machine
            _ = machine.handle(.signInBegan(entry: 1))
            _ = machine.handle(.signInBegan(entry: 2))
            for entry in isFirstAnsweredFirst ? [1, 2] : [2, 1] {
                _ = machine.handle(.signedIn(entry: entry, Phase.grant(entry == 1 ? "alice" : "bruno", entry)))
            }
            #expect(machine.userID == "bruno")
        }
    }

    @Test func aSignInAnsweredAfterASignOutDoesNotCount() {
        var machine = Phase.none.machine
        _ = machine.handle(.signInBegan(entry: 1))
        _ = machine.handle(.signedOut)
        #expect(machine.handle(.signedIn(entry: 1, Phase.grant())) == [.revoke(accessToken: "a1")])
        #expect(machine.userID == nil)
    }

    @Test func aRefreshAnsweredAfterASignOutDoesNotCount() {
        var machine = Phase.refreshing.machine
        _ = machine.handle(.signedOut)
        #expect(machine.handle(.refreshed(generation: 1, Phase.grant())) == [.revoke(accessToken: "a1")])
        #expect(machine.handle(.refreshFailed(generation: 1, isRejected: false, jitter: 0)) == [])
        #expect(machine.userID == nil)
    }

    @Test func aRefreshIsTakenByThePhaseThatAskedForIt() {
        let taken: [Effect] = [
            .save(KizunaAuthSession(userID: "alice", refreshToken: "r2")),
            .publish(.signedIn(userID: "alice", accessToken: "a2")), .responseWaiters(token: "a2"),
            .startTimer(timer: 1, after: .seconds(3540)),
        ]
        check(
            .refreshed(generation: 1, Phase.grant("alice", 2)),
            [.none: [.revoke(accessToken: "a2")], .refreshing: taken])
    }

    @Test func aFailedRefreshBooksTheNextOne() {
        check(
            .refreshFailed(generation: 1, isRejected: false, jitter: 0),
            [.refreshing: [.responseWaiters(token: nil), .startTimer(timer: 1, after: .milliseconds(300).jittered(0))]])
    }

    @Test func aRejectedRefreshTokenIsNoSignOut() {
        check(
            .refreshFailed(generation: 1, isRejected: true, jitter: 0),
            [.refreshing: [.responseWaiters(token: nil), .publish(.lost)]])
        #expect(Phase.lost.machine.userID == "alice")
    }

    @Test func aRejectedTokenIsRefreshedOnceAtATime() {
        check(
            .tokenRejected,
            [
                .restoring: [.responseWaiters(token: nil)], .none: [.responseWaiters(token: nil)],
                .held: [.cancelTimer(timer: 1), .refresh(generation: 1, token: "r1")],
                .waiting: [.cancelTimer(timer: 1), .refresh(generation: 1, token: "r1")],
                .lost: [.responseWaiters(token: nil)],
            ])
        var machine = Phase.held.machine
        _ = machine.handle(.tokenRejected)
        #expect(machine.handle(.tokenRejected) == [])
    }

    @Test func onlyTheRunningTimerCounts() {
        check(
            .timerFired(timer: 1),
            [
                .held: [.refresh(generation: 1, token: "r1")], .waiting: [.refresh(generation: 1, token: "r1")],
            ])
        check(.timerFired(timer: 99), [:])
        var machine = Phase.restoring.machine
        _ = machine.handle(.notRestored(jitter: 0))
        #expect(machine.handle(.timerFired(timer: 1)) == [.load])
    }

    @Test func aShortLivedTokenIsRefreshedAtHalfItsLife() {
        var machine = Phase.refreshing.machine
        let grant = AuthGrant(session: Phase.kept, accessToken: "a", lifetime: .seconds(60))
        #expect(
            machine.handle(.refreshed(generation: 1, grant)).contains(.startTimer(timer: 1, after: .seconds(30))))
    }
}
