package import KizunaCore

/// Decides whose store is open and whether requests may be sent. Pure.
///
/// States:
/// - `opening(owner)`: the store of `owner` is being opened. → `open`, `failed`.
/// - `open(owner)`: its rows are served. → `opening` when another owner signs in or the user signs out.
/// - `failed`: the store could not be opened; nothing is served. → `opening` at the next owner, or at a retry.
/// - `closed`: terminal.
///
/// The soft block is independent of the state: with the policy `block`, a token of another user starts it. It ends at
/// `reset`, when the store's own user signs in again, or when that user signs out.
///
/// Invariants:
/// - O1: each change of owner has a new generation; results of an older generation are never used.
/// - O2: a session that is restoring, was lost, or has no token, never changes the owner.
/// - O3: requests are sent only when the session has settled as the owner of the open store.
/// - O4: a requested token counts only for the owner and generation of its request.
/// - O5: after rejections in a row the next token is requested after growing waits. If the session source offers only the rejected
///   token, it is sent again after more than a minute.
package struct OwnerMachine: Sendable {
    package enum Event: Sendable {
        case session(SessionState)
        case storeOpened(generation: Int)
        case storeFailed(generation: Int)
        /// A caller needs the store that could not be opened; the cause may have ended.
        case retryOpeningStore
        /// The server rejected the token of this generation.
        case tokenRejected(token: String, now: MonotonicInstant)
        /// The response to `askForToken`, perhaps late: a token of this user.
        case freshToken(generation: Int, userID: String, token: String, jitter: Double = 0)
        /// No token is available now.
        case noFreshToken(generation: Int, jitter: Double)
        /// The network returned: a missing token may be available now.
        case networkReturned
        /// The app discarded the current owner's data; from now on the session's own user is served.
        case reset
        case closed
    }

    package enum Effect: Sendable, Equatable {
        /// Close the open store, then open this owner's.
        case open(OwnerID, generation: Int)
        /// Whether requests of the current owner may be sent, and with which credentials.
        case credentials(Credentials)
        /// Request a token from the session source after this time, if it is still needed then.
        case askForToken(generation: Int, after: Duration)
        /// A token of another user arrived under the policy `block`.
        case softBlocked(reason: String)
    }

    private enum State: Sendable, Equatable {
        case opening
        case open
        case failed
        case closed
    }

    private var state: State
    /// The effects of the event that is being handled.
    private var effects: [Effect] = []
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
    /// The reason of the soft block; nil without one.
    package private(set) var softBlockReason: String?

    /// Starts with the store of the last owner open.
    package init(lastOwner: OwnerID, identityPolicy: IdentityPolicy = .switchOwner) {
        owner = lastOwner
        self.identityPolicy = identityPolicy
        state = .open
    }

    package var credentials: Credentials { published }

    /// Whether a token requested in this generation is still needed.
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
        defer { effects = [] }
        switch event {
        case .session(let next):
            session = next
            if case .signedIn(_, let token) = next, token != rejected { rejected = nil }
            follow()
        case .reset:
            softBlockReason = nil
            serveSettledOwner()
        case .storeOpened(let opened):
            guard opened == generation, state == .opening else { return [] }
            state = .open
        case .storeFailed(let failed):
            guard failed == generation, state == .opening else { return [] }
            state = .failed
        case .retryOpeningStore:
            guard state == .failed else { return [] }
            reopen()
        case .tokenRejected(let token, let now):
            guard case .signedIn(_, token) = session, rejected != token else { return [] }
            rejected = token
            failures = 0
            effects.append(.askForToken(generation: generation, after: waitAfterRejection(at: now)))
        case .freshToken(let asked, let userID, let token, let jitter):
            // A token that arrives after another user's sign-in, or after a sign-out, is not used.
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
            return []
        }
        publish()
        return effects
    }

    /// Serves the session's owner, unless that is another user and the policy is to block.
    private mutating func follow() {
        guard let settled = settledOwner else { return }
        if settled == owner { softBlockReason = nil }
        guard identityPolicy == .block, owner != .nobody, settled != .nobody, settled != owner else {
            return serveSettledOwner()
        }
        guard softBlockReason == nil else { return }
        softBlockReason = Self.identityChanged
        effects.append(.softBlocked(reason: Self.identityChanged))
    }

    private mutating func serveSettledOwner() {
        guard let settled = settledOwner, settled != owner else { return }
        owner = settled
        softBlockReason = nil
        reopen()
    }

    private mutating func reopen() {
        generation += 1
        state = .opening
        publish()
        effects.append(.open(owner, generation: generation))
    }

    private mutating func askAgain(_ jitter: Double) -> Effect {
        failures += 1
        let wait = RetrySchedule.refresh.wait(afterFailure: failures).jittered(jitter)
        return .askForToken(generation: generation, after: wait)
    }

    /// The first rejection means an expired token: the next one is requested at once. If the server rejects fresh tokens
    /// too, the waits grow.
    private mutating func waitAfterRejection(at now: MonotonicInstant) -> Duration {
        let isInARow = lastRejection.map { now < $0 + Self.rejectionsInARow } ?? false
        rejections = isInARow ? rejections + 1 : 0
        lastRejection = now
        return rejections == 0 ? .zero : RetrySchedule.refresh.wait(afterFailure: rejections)
    }

    /// After this number of offers a rejected token is sent again, more than a minute after its rejection: the rejection may
    /// have had another cause.
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

    private mutating func publish() {
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
