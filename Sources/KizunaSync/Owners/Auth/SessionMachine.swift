internal import KizunaCore

/// Decides when an access token is refreshed, and computes the state of the session. Pure.
///
/// States:
/// - `restoring`: the saved session is being read. → `none`, `held`.
/// - `none`: nobody is signed in. → `held` at a sign-in.
/// - `held(session)`: a user is signed in; a token is present, being refreshed, or scheduled. → `none` at a sign-out,
///   `lost` when the server rejects the refresh token.
/// - `lost(session)`: the server ended the session. Not a sign-out: the owner stays, and nothing is sent until a user
///   signs in. → `held`, `none`.
///
/// Invariants:
/// - S1: only an explicit sign-out, or a saved session that is certainly absent, counts as signed out.
/// - S2: one refresh runs at a time, and its response counts only in the generation of its start. The response to a sign-in counts
///   only if no other sign-in and no sign-out was requested later.
/// - S3: a failed refresh schedules the next attempt.
/// - S4: expiry is computed from the time since receipt on the monotonic clock; the wall clock is not used.
/// - S5: refreshes that succeed are some seconds apart, however short the tokens' life.
package struct SessionMachine: Sendable {
    package enum Event: Sendable {
        /// The saved session; nil if there is certainly none.
        case restored(KizunaAuthSession?)
        /// The store could not be read; the read is repeated.
        case notRestored(jitter: Double)
        /// The app requested a sign-in or sign-up; only the last request counts.
        case signInBegan(entry: Int)
        /// The auth server accepted the sign-in.
        case signedIn(entry: Int, AuthGrant)
        case signedOut
        case refreshed(generation: Int, AuthGrant)
        /// The refresh failed; `isRejected` if the server ended the session. `retryAfter` is the wait that the server requested.
        case refreshFailed(generation: Int, isRejected: Bool, jitter: Double, retryAfter: Duration? = nil)
        /// A token is needed because the last one was rejected.
        case tokenRejected
        case timerFired(timer: Int)
    }

    package enum Effect: Sendable, Equatable {
        case load
        case refresh(generation: Int, token: String)
        case save(KizunaAuthSession?)
        case startTimer(timer: Int, after: Duration)
        case cancelTimer(timer: Int)
        case publish(SessionState)
        /// Resume the callers that wait for a token; nil if none is available.
        case responseWaiters(token: String?)
        /// End a session that arrived too late on the server.
        case revoke(accessToken: String)
    }

    private enum Phase: Sendable, Equatable {
        case restoring
        case none
        case held
        case lost
    }

    private var phase = Phase.restoring
    /// The effects of the event that is being handled.
    private var effects: [Effect] = []
    private var session: KizunaAuthSession?
    private var accessToken: String?
    private var generation = 1
    /// The sign-in whose response is pending.
    private var entry: Int?
    private var isRefreshing = false
    private var failures = 0
    private var timer: Int?
    private var lastTimer = 0

    /// A token is refreshed when this much of its life is left, or half its life if that is less.
    private static let margin = Duration.seconds(60)
    /// The shortest wait for tokens with a very short lifetime; the rejection of such a token refreshes sooner.
    private static let shortestWait = Duration.seconds(10)

    private static func wait(_ lifetime: Duration) -> Duration {
        max(lifetime - margin, lifetime / 2, shortestWait)
    }

    package init() {}

    /// The first effect.
    package static let start = Effect.load

    /// The signed-in user, also after the server has ended the session.
    package var userID: String? { session?.userID }
    package var token: String? { accessToken }

    package mutating func handle(_ event: Event) -> [Effect] {
        defer { effects = [] }
        switch event {
        case .restored(let kept):
            guard phase == .restoring else { return [] }
            session = kept
            failures = 0
            guard kept != nil else {
                phase = .none
                return [.publish(.signedOut)]
            }
            phase = .held
            refresh()
        case .notRestored(let jitter):
            guard phase == .restoring else { return [] }
            retry(jitter)
        case .signInBegan(let begun): entry = begun
        case .signedIn(let answered, let grant):
            guard answered == entry else { return [.revoke(accessToken: grant.accessToken)] }
            entry = nil
            generation += 1
            isRefreshing = false
            take(grant)
        case .signedOut:
            entry = nil
            generation += 1
            isRefreshing = false
            phase = .none
            session = nil
            accessToken = nil
            failures = 0
            cancelTimer()
            effects += [.save(nil), .publish(.signedOut), .responseWaiters(token: nil)]
        case .refreshed(let from, let grant):
            guard from == generation, isRefreshing else {
                return phase == .none ? [.revoke(accessToken: grant.accessToken)] : []
            }
            isRefreshing = false
            take(grant)
        case .refreshFailed(let from, let isRejected, let jitter, let retryAfter):
            guard from == generation, isRefreshing else { return [] }
            isRefreshing = false
            effects.append(.responseWaiters(token: nil))
            if isRejected {
                phase = .lost
                accessToken = nil
                effects.append(.publish(.lost))
            } else {
                retry(jitter, notBefore: retryAfter ?? .zero)
            }
        case .tokenRejected:
            guard phase == .held else { return [.responseWaiters(token: nil)] }
            accessToken = nil
            refresh()
        case .timerFired(let fired):
            guard fired == timer else { return [] }
            timer = nil
            if phase == .restoring { effects.append(.load) } else { refresh() }
        }
        return effects
    }

    private mutating func take(_ grant: AuthGrant) {
        phase = .held
        failures = 0
        session = grant.session
        accessToken = grant.accessToken
        cancelTimer()
        lastTimer += 1
        timer = lastTimer
        effects += [
            .save(grant.session),
            .publish(.signedIn(userID: grant.session.userID, accessToken: grant.accessToken)),
            .responseWaiters(token: grant.accessToken),
            .startTimer(timer: lastTimer, after: Self.wait(grant.lifetime)),
        ]
    }

    private mutating func refresh() {
        guard phase == .held, !isRefreshing, let session else { return }
        cancelTimer()
        isRefreshing = true
        effects.append(.refresh(generation: generation, token: session.refreshToken))
    }

    private mutating func retry(_ jitter: Double, notBefore floor: Duration = .zero) {
        failures += 1
        cancelTimer()
        lastTimer += 1
        timer = lastTimer
        let wait = RetrySchedule.refresh.wait(afterFailure: failures).jittered(jitter)
        effects.append(.startTimer(timer: lastTimer, after: max(wait, RetryAfter.bounded(floor))))
    }

    private mutating func cancelTimer() {
        guard let running = timer else { return }
        timer = nil
        effects.append(.cancelTimer(timer: running))
    }
}
