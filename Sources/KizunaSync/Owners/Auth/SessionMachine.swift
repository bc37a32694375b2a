internal import KizunaCore

/// Decides when an access token is refreshed and what the session is taken for. Pure.
///
/// States:
/// - `restoring`: the kept session is being read. → `none`, `held`.
/// - `none`: nobody is signed in. → `held` at a sign-in.
/// - `held(session)`: a user is signed in; a token is there, being fetched, or waited for. → `none` at a sign-out,
///   `lost` when the server refuses the refresh token.
/// - `lost(session)`: the server ended the session. Not a sign-out: the owner stays, nothing is sent until somebody
///   signs in. → `held`, `none`.
///
/// Invariants:
/// - S1: only an explicit sign-out, or a kept session that is certainly absent, reads as signed out.
/// - S2: one refresh is out at a time, and an answer counts only in the generation it started from; that of a sign-in
///   only while no other sign-in and no sign-out was asked for after it.
/// - S3: a failed refresh books its own next attempt.
/// - S4: expiry is judged by time since receipt on the monotonic clock; the wall clock is never asked.
/// - S5: refreshes that succeed are some seconds apart, however short the tokens' life.
package struct SessionMachine: Sendable {
    package enum Event: Sendable {
        /// What the store holds; nil where it certainly holds none.
        case restored(KizunaAuthSession?)
        /// The store could not be read; it is asked again.
        case notRestored(jitter: Double)
        /// The app asked to sign in or up; of several, the last asked for counts.
        case signInBegan(entry: Int)
        /// The auth server answered it.
        case signedIn(entry: Int, AuthGrant)
        case signedOut
        case refreshed(generation: Int, AuthGrant)
        /// No grant came; `isRejected` when the server said that the session is over.
        /// `retryAfter` is how long it asked to be left alone.
        case refreshFailed(generation: Int, isRejected: Bool, jitter: Double, retryAfter: Duration? = nil)
        /// A token is wanted because the last one was not accepted.
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
        /// The wait for a token is over: this one, or none for now.
        case responseWaiters(token: String?)
        /// A session that came too late to be used: end it on the server.
        case revoke(accessToken: String)
    }

    private enum Phase: Sendable, Equatable {
        case restoring
        case none
        case held
        case lost
    }

    private var phase = Phase.restoring
    private var session: KizunaAuthSession?
    private var accessToken: String?
    private var generation = 1
    /// The sign-in that is waited for.
    private var entry: Int?
    private var isRefreshing = false
    private var failures = 0
    private var timer: Int?
    private var lastTimer = 0

    /// A token is refreshed when this much of its life is left, or half its life if that is less.
    private static let margin = Duration.seconds(60)
    /// A server whose tokens hold for no time at all is not asked more often; the refusal of such a token asks sooner.
    private static let shortestWait = Duration.seconds(10)

    private static func wait(_ lifetime: Duration) -> Duration {
        max(lifetime - margin, lifetime / 2, shortestWait)
    }

    package init() {}

    /// The effect to begin with.
    package static let start = Effect.load

    /// Whether somebody is signed in, or was until the server ended the session.
    package var userID: String? { session?.userID }
    package var token: String? { accessToken }

    package mutating func handle(_ event: Event) -> [Effect] {
        var effects: [Effect] = []
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
            refresh(&effects)
        case .notRestored(let jitter):
            guard phase == .restoring else { return [] }
            retry(jitter, &effects)
        case .signInBegan(let begun): entry = begun
        case .signedIn(let answered, let grant):
            guard answered == entry else { return [.revoke(accessToken: grant.accessToken)] }
            entry = nil
            generation += 1
            isRefreshing = false
            take(grant, &effects)
        case .signedOut:
            entry = nil
            generation += 1
            isRefreshing = false
            phase = .none
            session = nil
            accessToken = nil
            failures = 0
            cancelTimer(&effects)
            effects += [.save(nil), .publish(.signedOut), .responseWaiters(token: nil)]
        case .refreshed(let from, let grant):
            guard from == generation, isRefreshing else {
                return phase == .none ? [.revoke(accessToken: grant.accessToken)] : []
            }
            isRefreshing = false
            take(grant, &effects)
        case .refreshFailed(let from, let isRejected, let jitter, let retryAfter):
            guard from == generation, isRefreshing else { return [] }
            isRefreshing = false
            effects.append(.responseWaiters(token: nil))
            if isRejected {
                phase = .lost
                accessToken = nil
                effects.append(.publish(.lost))
            } else {
                retry(jitter, notBefore: retryAfter ?? .zero, &effects)
            }
        case .tokenRejected:
            guard phase == .held else { return [.responseWaiters(token: nil)] }
            accessToken = nil
            refresh(&effects)
        case .timerFired(let fired):
            guard fired == timer else { return [] }
            timer = nil
            if phase == .restoring { effects.append(.load) } else { refresh(&effects) }
        }
        return effects
    }

    private mutating func take(_ grant: AuthGrant, _ effects: inout [Effect]) {
        phase = .held
        failures = 0
        session = grant.session
        accessToken = grant.accessToken
        cancelTimer(&effects)
        lastTimer += 1
        timer = lastTimer
        effects += [
            .save(grant.session),
            .publish(.signedIn(userID: grant.session.userID, accessToken: grant.accessToken)),
            .responseWaiters(token: grant.accessToken),
            .startTimer(timer: lastTimer, after: Self.wait(grant.lifetime)),
        ]
    }

    private mutating func refresh(_ effects: inout [Effect]) {
        guard phase == .held, !isRefreshing, let session else { return }
        cancelTimer(&effects)
        isRefreshing = true
        effects.append(.refresh(generation: generation, token: session.refreshToken))
    }

    private mutating func retry(_ jitter: Double, notBefore floor: Duration = .zero, _ effects: inout [Effect]) {
        failures += 1
        cancelTimer(&effects)
        lastTimer += 1
        timer = lastTimer
        let wait = RetrySchedule.refresh.wait(afterFailure: failures).jittered(jitter)
        effects.append(.startTimer(timer: lastTimer, after: max(wait, RetryAfter.bounded(floor))))
    }

    private mutating func cancelTimer(_ effects: inout [Effect]) {
        guard let running = timer else { return }
        timer = nil
        effects.append(.cancelTimer(timer: running))
    }
}
