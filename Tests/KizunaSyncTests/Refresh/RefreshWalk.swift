import KizunaCore
import KizunaSync

/// A refresh machine and a second, simpler book of what its effects have come to, to hold them against each other.
struct RefreshWalk {
    private var machine: RefreshMachine
    private var attempts: Set<Int> = []
    private var timers: Set<Int> = []
    private var lastID = 0
    private var isPathUp = true
    private var isEnabled = true
    private var isSettled = true
    private var awaitsRows = false
    private var isWanted = false
    private var failuresInARow = 0
    private let failuresUntilStalled: Int
    private var hasBeenAnswered = false
    private(set) var story: [String] = []

    init(stallsAtFirstFailure: Bool) {
        machine = RefreshMachine(
            isPathUp: true, isEnabled: true, isSessionSettled: true, stallsAtFirstFailure: stallsAtFirstFailure)
        failuresUntilStalled = stallsAtFirstFailure ? 1 : 4
    }

    /// Tells an event and says which invariants are broken then.
    mutating func step(_ kind: RefreshEventKind, isStale: Bool) -> [String] {
        let id = isStale ? lastID - 1 : attempts.first ?? timers.first ?? lastID
        let before = machine.state
        let event = kind.event(about: id, failure: .offline("failure \(story.count)"))
        note(event, id)
        let effects = machine.handle(event)
        story.append(kind.rawValue + (isStale ? " (stale)" : ""))
        var faults = follow(effects)
        faults += status()
        if case .stalled(let cause) = machine.state {
            if !(isPathUp && isEnabled), effects.contains(where: { $0.word == "STALLED" }) {
                faults.append("R4: stalled while the network is known to be down")
            }
            if case .stalled(let previous) = before, previous != cause { faults.append("R4: another cause") }
            if before.word != "stalled", failuresInARow < (hasBeenAnswered ? 4 : failuresUntilStalled) {
                faults.append("R4: stalled after \(failuresInARow) failures")
            }
        }
        return faults
    }

    private mutating func note(_ event: RefreshMachine.Event, _ id: Int) {
        let isOut = attempts.contains(id)
        switch event {
        case .needed:
            isWanted = true
            awaitsRows = false
        case .cleared:
            isWanted = true
            failuresInARow = 0
        case .ownerChanged:
            isWanted = true
            awaitsRows = true
            failuresInARow = 0
        case .responseStored where isOut:
            attempts = []
            isWanted = false
            hasBeenAnswered = true
            failuresInARow = 0
        case .responseUntrusted where isOut:
            attempts = []
            failuresInARow = 0
        case .responseRejected where isOut: attempts = []
        case .failed where isOut, .tokenRejected where isOut:
            attempts = []
            failuresInARow += 1
        case .timerFired: timers.remove(id)
        case .pathChanged(let isUp): isPathUp = isUp
        case .networkSwitched(let enabled): isEnabled = enabled
        case .sessionChanged(let settled): isSettled = settled
        default: break
        }
    }

    private mutating func follow(_ effects: [RefreshMachine.Effect]) -> [String] {
        var faults: [String] = []
        for effect in effects {
            switch effect {
            case .send(let attempt):
                if !isEnabled || !isSettled || awaitsRows { faults.append("R3: an attempt that may not start") }
                if !isWanted { faults.append("an attempt nobody wants") }
                if attempt <= lastID { faults.append("R1: an id twice") }
                attempts.insert(attempt)
                lastID = attempt
            case .cancelSend(let attempt): attempts.remove(attempt)
            case .startTimer(let timer, let delay):
                if delay > .seconds(60) { faults.append("a wait of more than a minute") }
                timers.insert(timer)
                lastID = timer
            case .cancelTimer(let timer): timers.remove(timer)
            case .publish(let state): if state != machine.state { faults.append("published another state") }
            }
        }
        return faults
    }

    private func status() -> [String] {
        var faults: [String] = []
        if attempts.count > 1 { faults.append("R1: \(attempts.count) attempts out") }
        switch machine.stage {
        case .idle: if isWanted { faults.append("R2: idle though a refresh is wanted") }
        case .held: if isEnabled, isSettled, !awaitsRows { faults.append("R2: held though it may be sent") }
        case .attempting: if attempts.count != 1 || !timers.isEmpty { faults.append("R2: no attempt is out") }
        case .waiting: if timers.count != 1 || !attempts.isEmpty { faults.append("R2: no timer runs") }
        case .ended: faults.append("ended by itself")
        }
        if machine.stage == .idle, machine.state != .idle { faults.append("idle, and reads \(machine.state.word)") }
        if machine.stage != .idle, machine.state == .idle { faults.append("reads idle, and is not") }
        return faults
    }
}
