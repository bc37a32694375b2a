package import KizunaCore

/// Decides when a live read asks the server, and how its refresh stands. Pure: events in, effects out.
///
/// Phases, and where each may go:
/// - `idle`: nothing is wanted. → `attempting` or `held` when a refresh is needed.
/// - `held`: a refresh is wanted but nothing may be sent (network switched off, session unsettled, or another owner's
///   rows not loaded yet). → `attempting` when it may.
/// - `attempting`: a request is out. → `idle` (stored), `attempting` (refused as too old), `waiting` (failed), `held`.
/// - `waiting`: the next attempt is booked. → `attempting` (timer, network back, session, foreground), `held`.
/// - `ended`: the read is over. Terminal.
///
/// Invariants:
/// - R1: at most one attempt is out, and only an event of that attempt can end it.
/// - R2: while a refresh is wanted and may be sent, an attempt is out or a timer runs. Nothing waits for luck.
/// - R3: while the network is switched off, the session unsettled or the rows not loaded, no attempt starts.
/// - R4: `stalled` is published at the fourth failure in a row, never while the network is known to be down, and its
///   cause stays until the state is left. Waiting for the network or the session is no failure and forgets the former.
/// - R5: a refused answer is not a failure; after three outdatedResponses in a row the repeat waits 300 ms.
/// - R6: the first token the server does not accept is no failure, since a fresh one is asked for; a second in a row
///   is, and then a new session does not cut the wait short, so that two parties who disagree cannot spin.
package struct RefreshMachine: Sendable {
    /// What happens to a refresh.
    package enum Event: Sendable {
        /// The rows are wanted from the server: at start, after a stale mark.
        case needed
        /// Local data was cleared: an answer still under way is worthless, ask anew.
        case cleared
        /// Another owner's rows are read from now on; `needed` follows when they are loaded.
        case ownerChanged
        case responseStored(attempt: Int)
        /// The answer was older than the table's last change.
        case responseRejected(attempt: Int)
        /// The answer was an empty one that is not trusted from an anonymous session.
        case responseUntrusted(attempt: Int)
        case failed(attempt: Int, failure: SyncError, retryAfter: Duration?)
        /// The server did not accept the session's token.
        case tokenRejected(attempt: Int, failure: SyncError)
        case timerFired(timer: Int)
        /// What the path monitor believes; true also when there is none.
        case pathChanged(isUp: Bool)
        /// `enableNetwork()` or `disableNetwork()`.
        case networkSwitched(isEnabled: Bool)
        case sessionChanged(isSettled: Bool)
        /// `sync()`: try now what waits, unless the server asked to be left alone for a while.
        case hurried
        /// The app's explicit wish: try now, whatever the server asked for.
        case woken
        case ended
    }

    /// What the runner is to do.
    package enum Effect: Sendable, Equatable {
        case send(attempt: Int)
        case cancelSend(attempt: Int)
        case startTimer(timer: Int, after: Duration)
        case cancelTimer(timer: Int)
        case publish(RefreshState)
    }

    private enum Phase: Sendable, Equatable {
        case idle
        case held
        case attempting(Int)
        case waiting(timer: Int)
        case ended
    }

    /// Where the machine stands, without what belongs to it.
    package enum Stage: Sendable, CaseIterable {
        case idle
        case held
        case attempting
        case waiting
        case ended
    }

    private var phase: Phase = .idle
    private var published: RefreshState
    private var isPathUp: Bool
    private var isEnabled: Bool
    private var isSessionSettled: Bool
    private var failures = 0
    private var outdatedResponses = 0
    private var untrusted = 0
    private var rejections = 0
    private var awaitsRows = false
    /// Whether the wait under way is the server's own wish (`Retry-After`).
    private var isAskedToWait = false
    private var stallCause: SyncError?
    private var lastID = 0
    /// One for a read that must ask the server before it shows anything, until the server has answered once.
    private var failuresUntilStalled: Int

    private static let schedule = RetrySchedule.refresh
    private static let outdatedUntilPause = 3
    private static let outdatedPause = Duration.milliseconds(300)
    /// A refresh is tried at most a minute apart, whatever the server asks for (docs/spec/reads.md, Retry schedule).
    private static let longestRetryAfter = Duration.seconds(60)

    package init(
        isPathUp: Bool, isEnabled: Bool, isSessionSettled: Bool, stallsAtFirstFailure: Bool = false
    ) {
        self.isPathUp = isPathUp
        self.isEnabled = isEnabled
        self.isSessionSettled = isSessionSettled
        failuresUntilStalled = stallsAtFirstFailure ? 1 : RetrySchedule.failuresUntilStalled
        published = .idle
    }

    /// The state as last published.
    package var state: RefreshState { published }

    package var stage: Stage {
        switch phase {
        case .idle: .idle
        case .held: .held
        case .attempting: .attempting
        case .waiting: .waiting
        case .ended: .ended
        }
    }

    /// The attempt that is out, if one is.
    package var attempt: Int? {
        if case .attempting(let attempt) = phase { attempt } else { nil }
    }

    /// Whether the server did not accept the token before this one either.
    package var isTokenRejectedAgain: Bool { rejections > 0 }

    /// Takes one event and says what to do about it.
    package mutating func handle(_ event: Event) -> [Effect] {
        guard phase != .ended else { return [] }
        var effects: [Effect] = []
        switch event {
        case .needed:
            if phase == .idle || awaitsRows {
                awaitsRows = false
                begin(&effects)
            }
        case .cleared:
            abandon(&effects)
            resetCounts()
            begin(&effects)
        case .ownerChanged:
            abandon(&effects)
            resetCounts()
            awaitsRows = true
            hold(&effects)
        case .responseStored(let attempt):
            guard phase == .attempting(attempt) else { return [] }
            resetCounts()
            failuresUntilStalled = RetrySchedule.failuresUntilStalled
            phase = .idle
        case .responseRejected(let attempt):
            guard phase == .attempting(attempt) else { return [] }
            outdatedResponses += 1
            if outdatedResponses % Self.outdatedUntilPause == 0 {
                wait(Self.outdatedPause, &effects)
            } else {
                begin(&effects)
            }
        case .responseUntrusted(let attempt):
            guard phase == .attempting(attempt) else { return [] }
            failures = 0
            stallCause = nil
            untrusted += 1
            wait(Self.schedule.wait(afterFailure: untrusted), &effects)
        case .failed(let attempt, let failure, let retryAfter):
            guard phase == .attempting(attempt) else { return [] }
            recordFailure(failure)
            let asked = min(retryAfter ?? .zero, Self.longestRetryAfter)
            wait(max(Self.schedule.wait(afterFailure: failures), asked), &effects)
            isAskedToWait = asked > .zero
        case .tokenRejected(let attempt, let failure):
            guard phase == .attempting(attempt) else { return [] }
            let before = rejections
            if before > 0 { recordFailure(failure) }
            rejections = before + 1
            wait(Self.schedule.wait(afterFailure: failures), &effects)
        case .timerFired(let timer):
            guard phase == .waiting(timer: timer) else { return [] }
            phase = .held
            begin(&effects)
        case .pathChanged(let isUp):
            let cameBack = isUp && !isPathUp
            isPathUp = isUp
            if cameBack { networkReturned(&effects) }
        case .networkSwitched(let enabled):
            let cameBack = enabled && !isEnabled
            isEnabled = enabled
            if !enabled, case .waiting = phase { hold(&effects) }
            if cameBack { networkReturned(&effects) }
        case .sessionChanged(let isSettled):
            isSessionSettled = isSettled
            if isSettled {
                if rejections < 2 {
                    hurry(&effects)
                } else if phase == .held {
                    wait(Self.schedule.wait(afterFailure: failures), &effects)
                }
            } else {
                abandon(&effects)
                if phase != .idle { hold(&effects) }
                if rejections < 2 { forgetFailures() }
            }
        case .hurried:
            if !isAskedToWait { hurry(&effects) }
        case .woken:
            hurry(&effects)
        case .ended:
            abandon(&effects)
            phase = .ended
            return effects
        }
        publish(&effects)
        return effects
    }

    // MARK: - Moves

    private var mayAttempt: Bool { isEnabled && isSessionSettled && !awaitsRows }

    private mutating func begin(_ effects: inout [Effect]) {
        guard mayAttempt else { return hold(&effects) }
        cancelTimer(&effects)
        isAskedToWait = false
        lastID += 1
        phase = .attempting(lastID)
        effects.append(.send(attempt: lastID))
    }

    private mutating func wait(_ delay: Duration, _ effects: inout [Effect]) {
        isAskedToWait = false
        guard mayAttempt else { return hold(&effects) }
        lastID += 1
        phase = .waiting(timer: lastID)
        effects.append(.startTimer(timer: lastID, after: delay))
    }

    private mutating func hold(_ effects: inout [Effect]) {
        cancelTimer(&effects)
        phase = .held
    }

    /// Starts an attempt now where one is wanted and none is out.
    private mutating func hurry(_ effects: inout [Effect]) {
        switch phase {
        case .held, .waiting: begin(&effects)
        case .idle, .attempting, .ended: break
        }
    }

    private mutating func networkReturned(_ effects: inout [Effect]) {
        if case .paused = published { resetCounts() }
        hurry(&effects)
    }

    /// Calls off whatever is out or booked; a wanted refresh stays wanted.
    private mutating func abandon(_ effects: inout [Effect]) {
        cancelTimer(&effects)
        if case .attempting(let attempt) = phase {
            effects.append(.cancelSend(attempt: attempt))
            phase = .held
        }
    }

    private mutating func cancelTimer(_ effects: inout [Effect]) {
        if case .waiting(let timer) = phase {
            effects.append(.cancelTimer(timer: timer))
            phase = .held
        }
    }

    private mutating func recordFailure(_ failure: SyncError) {
        outdatedResponses = 0
        untrusted = 0
        rejections = 0
        failures += 1
        if failures >= failuresUntilStalled, stallCause == nil, isNetworkBelievedUp { stallCause = failure }
    }

    private mutating func resetCounts() {
        forgetFailures()
        outdatedResponses = 0
        untrusted = 0
        rejections = 0
    }

    /// Waiting for the session reads as waiting, never as a failure (docs/spec/reads.md, Waiting for the session).
    private mutating func forgetFailures() {
        failures = 0
        stallCause = nil
    }

    // MARK: - What it reads as

    private var isNetworkBelievedUp: Bool { isEnabled && isPathUp }

    private mutating func publish(_ effects: inout [Effect]) {
        let next = reading
        if case .paused = next { stallCause = nil }
        guard next != published else { return }
        published = next
        effects.append(.publish(next))
    }

    private var reading: RefreshState {
        switch phase {
        case .idle, .ended: return .idle
        case .attempting:
            // A request is out: what it reads as changes with its outcome, unless the network came back meanwhile.
            if !isNetworkBelievedUp, published == .paused || published == .idle || !isEnabled { return .paused }
        case .held, .waiting:
            if !isNetworkBelievedUp { return .paused }
        }
        if let stallCause { return .stalled(stallCause) }
        return .refreshing
    }
}
