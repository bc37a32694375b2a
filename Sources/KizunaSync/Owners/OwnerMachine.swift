package import KizunaCore

/// Decides whose vault is open and whether requests may go out. Pure.
///
/// States:
/// - `opening(owner)`: the vault of `owner` is being opened. → `open`, `failed`.
/// - `open(owner)`: its rows are served. → `opening` when another owner signs in or the user signs out.
/// - `failed`: the vault could not be opened; nothing is served. → `opening` at the next owner, or when somebody asks for
///   the vault again.
/// - `closed`: terminal.
///
/// Beside the state stands the soft block: under the policy to block, a token of another user latches it. It ends with
/// `reset`, when the vault's own user signs in again, or when that user signs out.
///
/// Invariants:
/// - O1: each change of owner has a new generation; what was begun under an older one is never used.
/// - O2: a session that is restoring, was lost, or has no token, never changes the owner.
/// - O3: requests go out only when the session has settled as the open vault's owner.
/// - O4: a token that was asked for counts only for the owner and generation it was asked for.
/// - O5: rejections in a row ask for the next token after growing waits, so a server that accepts none is not hammered; a
///   rejected token that is all there is goes out again once in more than a minute.
package struct OwnerMachine: Sendable {
    package enum Event: Sendable {
        case session(SessionState)
        case storeOpened(generation: Int)
        case storeFailed(generation: Int)
        /// Somebody asks for a vault that could not be opened: what was in the way may be gone.
        case retryOpeningStore
        /// The server did not accept the token of this generation.
        case tokenRejected(token: String, now: MonotonicInstant)
        /// The answer to `askForToken`, perhaps long after it: a token of this user.
        case freshToken(generation: Int, userID: String, token: String, jitter: Double = 0)
        /// It could not be had at the moment.
        case noFreshToken(generation: Int, jitter: Double)
        /// The network came back: a token that is missing may be had now.
        case networkReturned
        /// The app gave up the present owner's data; the session's own user is served from now on.
        case reset
        case closed
    }

    package enum Effect: Sendable, Equatable {
        /// Close what is open, then open this owner's vault.
        case open(OwnerID, generation: Int)
        case close
        /// Whether requests of the current owner may go out, and with which token (nil: the anonymous key).
        case credentials(Credentials)
        /// Ask the session for a token after this time, if one is still wanted then.
        case askForToken(generation: Int, after: Duration)
        /// A token of another user came while the policy is to block.
        case softBlocked(reason: String)
    }

    private enum State: Sendable, Equatable {
        case opening
        case open
        case failed
        case closed
    }

    private var state: State
    package private(set) var owner: OwnerID
    package private(set) var generation = 1
    private var session: SessionState = .restoring
    private var rejected: String?
    /// Rejections in a row after the first one.
    private var rejections = 0
    private var lastRejection: MonotonicInstant?
    /// Failures in a row to get a fresh token.
    private var failures = 0
    private var published = Credentials.unsettled
    private let identityPolicy: IdentityPolicy
    /// Why nothing is sent until `reset`, nil when not blocked.
    package private(set) var softBlockReason: String?

    /// Starts with the vault of the last owner already open.
    package init(lastOwner: OwnerID, identityPolicy: IdentityPolicy = .switchOwner) {
        owner = lastOwner
        self.identityPolicy = identityPolicy
        state = .open
    }

    package var credentials: Credentials { published }

    /// Whether a token asked for in this generation is still wanted.
    package func wantsToken(generation asked: Int) -> Bool { asked == generation && isMissingToken }

    /// Whether the owner is a user whose token was rejected, or whose session is being restored.
    private var isMissingToken: Bool {
        switch session {
        case .restoring: owner != .nobody
        case .signedIn(let userID, let token): owner == .user(userID) && token == rejected
        case .lost, .signedOut: false
        }
    }

    package mutating func handle(_ event: Event) -> [Effect] {
        guard state != .closed else { return [] }
        var effects: [Effect] = []
        switch event {
        case .session(let next):
            session = next
            if case .signedIn(_, let token) = next, token != rejected { rejected = nil }
            follow(&effects)
        case .reset:
            softBlockReason = nil
            serveSettledOwner(&effects)
        case .storeOpened(let opened):
            guard opened == generation, state == .opening else { return [] }
            state = .open
        case .storeFailed(let failed):
            guard failed == generation, state == .opening else { return [] }
            state = .failed
        case .retryOpeningStore:
            guard state == .failed else { return [] }
            reopen(&effects)
        case .tokenRejected(let token, let now):
            guard case .signedIn(_, token) = session, rejected != token else { return [] }
            rejected = token
            failures = 0
            effects.append(.askForToken(generation: generation, after: waitAfterRejection(at: now)))
        case .freshToken(let asked, let userID, let token, let jitter):
            // A token that comes after another user signed in, or after a sign-out, is nobody's any more.
            guard wantsToken(generation: asked), owner == .user(userID) else { return [] }
            if token == rejected, failures < Self.offersOfARejectedToken {
                effects.append(askAgain(jitter))
            } else {
                session = .signedIn(userID: userID, accessToken: token)
                rejected = nil
            }
        case .noFreshToken(let asked, let jitter):
            guard wantsToken(generation: asked) else { return [] }
            effects.append(askAgain(jitter))
        case .networkReturned:
            guard state == .open, isMissingToken else { return [] }
            effects.append(.askForToken(generation: generation, after: .zero))
        case .closed:
            state = .closed
            return [.close]
        }
        publish(&effects)
        return effects
    }

    /// Serves the session's owner, unless that is another user and the policy is to block.
    private mutating func follow(_ effects: inout [Effect]) {
        guard let settled = settledOwner else { return }
        if settled == owner { softBlockReason = nil }
        guard identityPolicy == .block, owner != .nobody, settled != .nobody, settled != owner else {
            return serveSettledOwner(&effects)
        }
        guard softBlockReason == nil else { return }
        softBlockReason = Self.identityChanged
        effects.append(.softBlocked(reason: Self.identityChanged))
    }

    private mutating func serveSettledOwner(_ effects: inout [Effect]) {
        guard let settled = settledOwner, settled != owner else { return }
        owner = settled
        softBlockReason = nil
        reopen(&effects)
    }

    private mutating func reopen(_ effects: inout [Effect]) {
        generation += 1
        state = .opening
        publish(&effects)
        effects.append(.open(owner, generation: generation))
    }

    private mutating func askAgain(_ jitter: Double) -> Effect {
        failures += 1
        let wait = RetrySchedule.refresh.wait(afterFailure: failures).jittered(jitter)
        return .askForToken(generation: generation, after: wait)
    }

    /// A first rejection is a token that ran out: the next one is fetched at once. A server that rejects fresh tokens too
    /// is asked less and less often.
    private mutating func waitAfterRejection(at now: MonotonicInstant) -> Duration {
        let isInARow = lastRejection.map { now < $0 + Self.rejectionsInARow } ?? false
        rejections = isInARow ? rejections + 1 : 0
        lastRejection = now
        return rejections == 0 ? .zero : RetrySchedule.refresh.wait(afterFailure: rejections)
    }

    /// A token the source goes on offering is tried again after so many offers, more than a minute after its rejection: it may
    /// not have been the token's fault.
    private static let offersOfARejectedToken = 6
    private static let rejectionsInARow = Duration.seconds(120)
    private static let identityChanged = "identity_changed"

    private var settledOwner: OwnerID? {
        switch session {
        case .restoring, .lost: nil
        case .signedIn(let userID, _): .user(userID)
        case .signedOut: .nobody
        }
    }

    private mutating func publish(_ effects: inout [Effect]) {
        let next = reading
        guard next != published else { return }
        published = next
        effects.append(.credentials(next))
    }

    private var reading: Credentials {
        guard state == .open else { return .unsettled }
        switch session {
        case .restoring: return .unsettled
        case .signedIn(let userID, let token):
            return owner == .user(userID) && token != rejected ? .token(token) : .unsettled
        case .lost, .signedOut: return owner == .nobody ? .anonymous : .unsettled
        }
    }
}
