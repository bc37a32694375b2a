import KizunaCore
import KizunaSync

/// Every kind of event, without what belongs to it.
enum RefreshEventKind: String, CaseIterable {
    case needed, cleared, ownerChanged, responseStored, responseRejected, responseUntrusted, failed, tokenRejected,
        timerFired
    case pathDown, pathUp, switchedOff, switchedOn, sessionLost, sessionSettled, hurried, woken, ended

    /// The kind of an event; a new event does not compile until it has a kind here.
    init(_ event: RefreshMachine.Event) {
        self =
            switch event {
            case .needed: .needed
            case .cleared: .cleared
            case .ownerChanged: .ownerChanged
            case .responseStored: .responseStored
            case .responseRejected: .responseRejected
            case .responseUntrusted: .responseUntrusted
            case .failed: .failed
            case .tokenRejected: .tokenRejected
            case .timerFired: .timerFired
            case .pathChanged(let isUp): isUp ? .pathUp : .pathDown
            case .networkSwitched(let isEnabled): isEnabled ? .switchedOn : .switchedOff
            case .sessionChanged(let isSettled): isSettled ? .sessionSettled : .sessionLost
            case .hurried: .hurried
            case .woken: .woken
            case .ended: .ended
            }
    }

    /// An event of this kind about this attempt or timer.
    func event(about id: Int, failure: SyncError = .offline("again"), retryAfter: Duration? = nil)
        -> RefreshMachine.Event
    {
        switch self {
        case .needed: .needed
        case .cleared: .cleared
        case .ownerChanged: .ownerChanged
        case .responseStored: .responseStored(attempt: id)
        case .responseRejected: .responseRejected(attempt: id)
        case .responseUntrusted: .responseUntrusted(attempt: id)
        case .failed: .failed(attempt: id, failure: failure, retryAfter: retryAfter)
        case .tokenRejected: .tokenRejected(attempt: id, failure: failure)
        case .timerFired: .timerFired(timer: id)
        case .pathDown: .pathChanged(isUp: false)
        case .pathUp: .pathChanged(isUp: true)
        case .switchedOff: .networkSwitched(isEnabled: false)
        case .switchedOn: .networkSwitched(isEnabled: true)
        case .sessionLost: .sessionChanged(isSettled: false)
        case .sessionSettled: .sessionChanged(isSettled: true)
        case .hurried: .hurried
        case .woken: .woken
        case .ended: .ended
        }
    }
}

/// Where a refresh may stand when an event comes, each reached through events alone.
enum RefreshSituation: String, CaseIterable {
    case idle, attempting, attemptingDown, attemptingStalled, waiting, waitingDown, waitingStalled
    case heldBySwitch, heldBySession, heldByOwner, ended

    /// A machine in this situation, and the attempt or timer it is about.
    func make() -> (machine: RefreshMachine, id: Int) {
        var rig = RefreshRig()
        switch self {
        case .idle: rig.tell(.needed, .responseStored)
        case .attempting: rig.tell(.needed)
        case .attemptingDown: rig.tell(.pathDown, .needed)
        case .attemptingStalled:
            rig.tell(.needed)
            for _ in 1...4 { rig.tell(.failed, .timerFired) }
        case .waiting: rig.tell(.needed, .failed)
        case .waitingDown: rig.tell(.pathDown, .needed, .failed)
        case .waitingStalled:
            rig.tell(.needed, .failed)
            for _ in 1...3 { rig.tell(.timerFired, .failed) }
        case .heldBySwitch: rig.tell(.switchedOff, .needed)
        case .heldBySession: rig.tell(.sessionLost, .needed)
        case .heldByOwner: rig.tell(.needed, .ownerChanged)
        case .ended: rig.tell(.needed, .ended)
        }
        return (rig.machine, rig.id)
    }
}

/// A machine and what its effects have come to.
struct RefreshRig {
    var machine: RefreshMachine
    private(set) var id = 0

    init(
        isPathUp: Bool = true, isEnabled: Bool = true, isSessionSettled: Bool = true, stallsAtFirstFailure: Bool = false
    ) {
        machine = RefreshMachine(
            isPathUp: isPathUp, isEnabled: isEnabled, isSessionSettled: isSessionSettled,
            stallsAtFirstFailure: stallsAtFirstFailure)
    }

    /// Tells events about the attempt or timer that is current.
    @discardableResult
    mutating func tell(_ kinds: RefreshEventKind...) -> [RefreshMachine.Effect] {
        kinds.flatMap { tell($0.event(about: id)) }
    }

    @discardableResult
    mutating func tell(_ event: RefreshMachine.Event) -> [RefreshMachine.Effect] {
        let effects = machine.handle(event)
        for effect in effects {
            switch effect {
            case .send(let attempt): id = attempt
            case .startTimer(let timer, _): id = timer
            case .cancelSend, .cancelTimer, .publish: break
            }
        }
        return effects
    }
}

extension SyncError {
    static func offline(_ reason: String) -> SyncError {
        SyncError(
            .connectivity, "The server could not be reached (\(reason)); it is tried again.", table: "tasks")
    }
}

extension RefreshState {
    var word: String {
        switch self {
        case .idle: "idle"
        case .refreshing: "refreshing"
        case .paused: "paused"
        case .stalled: "stalled"
        }
    }
}

extension RefreshMachine.Effect {
    var word: String {
        switch self {
        case .send: "send"
        case .cancelSend: "cancelSend"
        case .startTimer(_, let delay): "wait \(delay.seconds)"
        case .cancelTimer: "cancelTimer"
        case .publish(let state): state.word.uppercased()
        }
    }
}
