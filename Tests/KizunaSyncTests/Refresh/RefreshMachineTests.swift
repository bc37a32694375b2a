import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

@Suite struct RefreshScheduleTests {
    /// The starts of attempts when each one fails at once, in seconds.
    private func attempts(_ count: Int, rig: inout RefreshRig) -> (starts: [Double], states: [String]) {
        var now = 0.0
        var starts: [Double] = []
        var states: [String] = []
        rig.tell(.needed)
        for _ in 1...count {
            starts.append(now)
            for case .startTimer(_, let delay) in rig.tell(.failed) { now += delay.seconds }
            states.append(rig.machine.state.word)
            rig.tell(.timerFired)
        }
        return (starts.map { ($0 * 10).rounded() / 10 }, states)
    }

    @Test func failuresAreRepeatedOnThePagesScheduleAndStallAtTheFourth() {
        var rig = RefreshRig()
        let (starts, states) = attempts(8, rig: &rig)
        #expect(starts == [0, 0.3, 1.2, 3.6, 8.6, 23.6, 83.6, 143.6])
        #expect(states == ["refreshing", "refreshing", "refreshing"] + Array(repeating: "stalled", count: 5))
    }

    @Test func aNetworkKnownToBeDownPausesAndNeverStalls() {
        var rig = RefreshRig(isPathUp: false)
        let (starts, states) = attempts(8, rig: &rig)
        #expect(starts == [0, 0.3, 1.2, 3.6, 8.6, 23.6, 83.6, 143.6])
        #expect(Set(states) == ["paused"])
    }

    @Test func theFirstStateReadsPausedWhereTheNetworkIsKnownToBeDown() {
        var down = RefreshRig(isPathUp: false)
        #expect(down.tell(.needed).map(\.word) == ["send", "PAUSED"])
        var off = RefreshRig(isEnabled: false)
        #expect(off.tell(.needed).map(\.word) == ["PAUSED"])
        var restoring = RefreshRig(isSessionSettled: false)
        #expect(restoring.tell(.needed).map(\.word) == ["REFRESHING"])
    }

    @Test func theCauseIsTheFailureThatStalledIt() {
        var (machine, id) = RefreshSituation.waitingStalled.make()
        #expect(machine.state == .stalled(.offline("again")))
        _ = machine.handle(.timerFired(timer: id))
        _ = machine.handle(.failed(attempt: id + 1, failure: .offline("another"), retryAfter: nil))
        #expect(machine.state == .stalled(.offline("again")))
    }

    @Test func aNewStallAfterIdleHasACauseOfItsOwnAndFourFailuresOfItsOwn() {
        var rig = RefreshRig()
        rig.tell(.needed)
        for _ in 1...4 { rig.tell(.failed, .timerFired) }
        rig.tell(.responseStored)
        #expect(rig.machine.state == .idle)
        rig.tell(.needed)
        for _ in 1...3 {
            rig.tell(RefreshEventKind.failed.event(about: rig.id, failure: .offline("second")))
            rig.tell(.timerFired)
        }
        #expect(rig.machine.state == .refreshing)
        rig.tell(RefreshEventKind.failed.event(about: rig.id, failure: .offline("second")))
        #expect(rig.machine.state == .stalled(.offline("second")))
    }

    @Test func leavingPausedForgetsTheFailures() {
        var rig = RefreshRig()
        rig.tell(.needed)
        for _ in 1...3 { rig.tell(.failed, .timerFired) }
        rig.tell(.pathDown, .failed, .pathUp)
        #expect(rig.machine.state == .refreshing)
        for _ in 1...3 { rig.tell(.failed, .timerFired) }
        #expect(rig.machine.state == .refreshing)
        rig.tell(.failed)
        #expect(rig.machine.state.word == "stalled")
    }

    @Test func aReadThatAsksFirstStallsAtItsFirstFailureUntilItWasAnsweredOnce() {
        var rig = RefreshRig(stallsAtFirstFailure: true)
        rig.tell(.needed, .failed)
        #expect(rig.machine.state.word == "stalled")
        rig.tell(.timerFired, .responseStored, .needed, .failed)
        #expect(rig.machine.state == .refreshing)
    }

    @Test(arguments: [RefreshEventKind.pathUp, .switchedOn, .sessionSettled, .hurried, .woken])
    func whateverComesBackCutsAWaitShort(_ kind: RefreshEventKind) {
        var rig = RefreshRig()
        rig.tell(.needed, .failed)
        switch kind {
        case .pathUp: rig.tell(.pathDown)
        case .switchedOn: rig.tell(.switchedOff)
        case .sessionSettled: rig.tell(.sessionLost)
        default: break
        }
        #expect(rig.tell(kind).contains { $0.word == "send" })
        #expect(rig.machine.stage == .attempting)
    }

    @Test(arguments: [
        (RefreshEventKind.hurried, false), (.needed, false), (.woken, true), (.pathUp, true), (.switchedOn, true),
        (.sessionSettled, true),
    ])
    func aWaitTheServerAskedForIsNotCutShortByASync(_ kind: RefreshEventKind, isCutShort: Bool) {
        var rig = RefreshRig()
        rig.tell(.needed)
        rig.tell(.failed(attempt: rig.id, failure: .offline("busy"), retryAfter: .seconds(30)))
        switch kind {
        case .pathUp: rig.tell(.pathDown)
        case .switchedOn: rig.tell(.switchedOff)
        case .sessionSettled: rig.tell(.sessionLost)
        default: break
        }
        #expect(rig.tell(kind).contains { $0.word == "send" } == isCutShort)
    }

    @Test func retryAfterLengthensAWaitButNeverBeyondAMinute() {
        let cases: [(asked: Duration, waits: Double)] = [
            (.zero, 0.3), (.milliseconds(100), 0.3), (.seconds(7), 7), (.seconds(600), 60),
        ]
        for (asked, waits) in cases {
            var rig = RefreshRig()
            rig.tell(.needed)
            let effects = rig.tell(.failed(attempt: rig.id, failure: .offline("busy"), retryAfter: asked))
            #expect(effects.map(\.word) == ["wait \(waits)"])
        }
    }
}

@Suite struct RefreshRejectionTests {
    @Test func aRefusedAnswerIsNoFailureAndEveryThirdRepeatWaits() {
        var rig = RefreshRig()
        rig.tell(.needed)
        var words: [String] = []
        for _ in 1...30 {
            let effects = rig.tell(.responseRejected)
            words += effects.map(\.word)
            if rig.machine.stage == .waiting { rig.tell(.timerFired) }
        }
        #expect(words == Array(repeating: ["send", "send", "wait 0.3"], count: 10).flatMap { $0 })
        #expect(rig.machine.state == .refreshing)
    }

    @Test func anUntrustedAnswerStaysRefreshingAtMostAMinuteApart() {
        var rig = RefreshRig()
        rig.tell(.needed)
        var words: [String] = []
        for _ in 1...8 {
            words += rig.tell(.responseUntrusted).map(\.word)
            rig.tell(.timerFired)
        }
        #expect(
            words == [
                "wait 0.3", "wait 0.9", "wait 2.4", "wait 5.0", "wait 15.0", "wait 60.0", "wait 60.0", "wait 60.0",
            ])
        #expect(rig.machine.state == .refreshing)
    }

    @Test func theFirstRejectedTokenIsNoFailureAndTheNextOnesAre() {
        var rig = RefreshRig()
        rig.tell(.needed)
        var sends = 0
        var states: [String] = []
        for _ in 1...5 {
            rig.tell(.tokenRejected, .sessionLost)
            states.append(rig.machine.state.word)
            let effects = rig.tell(.sessionSettled)
            sends += effects.count { $0.word == "send" }
            if rig.machine.stage == .waiting { rig.tell(.timerFired) }
        }
        // Only the first fresh token is tried at once.
        #expect(sends == 1)
        #expect(states == ["refreshing", "refreshing", "refreshing", "refreshing", "stalled"])
    }

    @Test func waitingForTheSessionIsNeverAFailure() {
        var rig = RefreshRig()
        rig.tell(.needed)
        for _ in 1...4 { rig.tell(.failed, .timerFired) }
        #expect(rig.machine.state.word == "stalled")
        rig.tell(.sessionLost)
        #expect(rig.machine.state == .refreshing)
        rig.tell(.sessionSettled, .failed)
        #expect(rig.machine.state == .refreshing)
    }
}

@Suite struct RefreshMachineLawTests {
    @Test(arguments: RefreshSituation.allCases)
    func losingWhatIsGoneAlreadyChangesNothing(in situation: RefreshSituation) {
        for kind in [RefreshEventKind.pathDown, .switchedOff, .sessionLost] {
            var (machine, id) = situation.make()
            _ = machine.handle(kind.event(about: id))
            let before = (machine.stage, machine.state)
            #expect(machine.handle(kind.event(about: id)).isEmpty)
            #expect((machine.stage, machine.state) == before)
        }
    }

    @Test func pauseAndResumeLeaveAnIdleReadIdle() {
        for (pause, resume) in [
            (RefreshEventKind.pathDown, RefreshEventKind.pathUp), (.switchedOff, .switchedOn),
            (.sessionLost, .sessionSettled),
        ] {
            var (machine, id) = RefreshSituation.idle.make()
            #expect(machine.handle(pause.event(about: id)).isEmpty)
            #expect(machine.handle(resume.event(about: id)).isEmpty)
            #expect(machine.state == .idle)
        }
    }

    @Test(arguments: [RefreshSituation.waiting, .waitingStalled, .attempting, .attemptingStalled])
    func pauseAndResumeOfAWantedRefreshHaveItTriedAtOnce(in situation: RefreshSituation) {
        for (pause, resume) in [
            (RefreshEventKind.pathDown, RefreshEventKind.pathUp), (.switchedOff, .switchedOn),
            (.sessionLost, .sessionSettled),
        ] {
            var (machine, id) = situation.make()
            _ = machine.handle(pause.event(about: id))
            _ = machine.handle(resume.event(about: id))
            #expect(machine.stage == .attempting)
        }
    }

    /// Random events, and after each one R1 to R4 as a second book-keeping sees them.
    @Test(arguments: 1...200)
    func invariantsHoldOnARandomWalk(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var walk = RefreshWalk(stallsAtFirstFailure: random.chance(0.3))
        for _ in 1...300 {
            let kinds = RefreshEventKind.allCases.filter { $0 != .ended }
            let kind = kinds[Int(random.next() % UInt64(kinds.count))]
            let isStale = random.chance(0.1)
            let faults = walk.step(kind, isStale: isStale)
            guard faults.isEmpty else {
                Issue.record("seed \(seed): \(faults) after \(walk.story.suffix(12))")
                return
            }
        }
    }
}
