public import Foundation
package import KizunaCore
internal import KizunaTransport
internal import Synchronization

/// A light client for Supabase Auth: sign-up, password sign-in, refresh with rotation, sign-out. It is a session source
/// for `KizunaSyncConfiguration.session`; an app that uses supabase-swift's Auth does not need it.
///
/// Tokens are kept in memory, and the refresh token in the store the app gives. A refresh that fails offline is tried
/// again; only an explicit sign-out reads as signed out (design §5).
public final class KizunaAuth: SessionSource {
    private struct State {
        var machine = SessionMachine()
        var current = SessionState.restoring
        var listeners: [AsyncStream<SessionState>.Continuation] = []
        var waiters: [CheckedContinuation<String?, Never>] = []
        var timers: [Int: TimerTicket] = [:]
        var hasStarted = false
    }

    private let gateway: AuthGateway
    private let store: any KizunaAuthStore
    private let environment: SyncEnvironment
    private let state = Mutex(State())

    /// Makes a client of a project.
    ///
    /// - Parameters:
    ///   - url: the project's URL.
    ///   - publishableKey: the project's publishable key.
    ///   - store: where the session is kept between starts.
    public convenience init(url: URL, publishableKey: String, store: any KizunaAuthStore = KizunaAuthMemoryStore()) {
        self.init(
            url: url, publishableKey: publishableKey, store: store, transport: PlatformTransport.http(),
            environment: .live())
    }

    package init(
        url: URL, publishableKey: String, store: any KizunaAuthStore, transport: any WireTransport,
        environment: SyncEnvironment
    ) {
        var base = url.absoluteString
        while base.hasSuffix("/") { base.removeLast() }
        gateway = AuthGateway(base: base, publishableKey: publishableKey, transport: transport)
        self.store = store
        self.environment = environment
    }

    // MARK: - The app's calls

    /// Signs a new user up and in; false where the user has to confirm the address first.
    ///
    /// - Throws: `SyncError`: `connectivity` offline, `server` with the reason (`user_already_exists`, `weak_password`).
    @discardableResult
    public func signUp(email: String, password: String) async throws -> Bool {
        guard let grant = try await gateway.signUp(email: email, password: password) else { return false }
        step(.signedIn(grant, now: environment.clock.now))
        return true
    }

    /// Signs a user in with a password.
    ///
    /// - Throws: `SyncError`: `connectivity` offline, `server` with code `invalid_credentials` and others.
    public func signIn(email: String, password: String) async throws {
        step(.signedIn(try await gateway.signIn(email: email, password: password), now: environment.clock.now))
    }

    /// Signs the user out on this device at once, and tells the server when it can be reached.
    public func signOut() async {
        let token = state.withLock { $0.machine.token }
        step(.signedOut)
        guard let token else { return }
        // The device is signed out whatever the server says.
        try? await gateway.signOut(accessToken: token)
    }

    /// The id of the signed-in user, also while its token is being refreshed or the server has ended the session.
    public var userID: String? { state.withLock { $0.machine.userID } }

    // MARK: - SessionSource

    /// The session's states: the current one first, then each change.
    public func states() -> AsyncStream<SessionState> {
        AsyncStream(bufferingPolicy: .bufferingNewest(16)) { continuation in
            let (current, isFirst) = state.withLock { state in
                defer { state.hasStarted = true }
                state.listeners.append(continuation)
                return (state.current, !state.hasStarted)
            }
            continuation.yield(current)
            if isFirst { perform(SessionMachine.start) }
        }
    }

    /// A new access token after the last one was not accepted; nil when there is none for now.
    public func freshToken() async throws -> String? {
        await withCheckedContinuation { continuation in
            state.withLock { $0.waiters.append(continuation) }
            step(.tokenRejected)
        }
    }

    // MARK: - The step

    private func step(_ event: SessionMachine.Event) {
        let effects = state.withLock { $0.machine.handle(event) }
        for effect in effects { perform(effect) }
    }

    private func perform(_ effect: SessionMachine.Effect) {
        switch effect {
        case .load:
            environment.spawn { [self] in
                do {
                    step(.restored(try await store.load()))
                } catch {
                    step(.notRestored(jitter: environment.randomFraction()))
                }
            }
        case .refresh(let generation, let token):
            environment.spawn { [self] in
                do {
                    let grant = try await gateway.refresh(token)
                    step(.refreshed(generation: generation, grant, now: environment.clock.now))
                } catch {
                    let isRefused = (error as? SyncError)?.endsSession ?? false
                    step(
                        .refreshFailed(
                            generation: generation, isRefused: isRefused, jitter: environment.randomFraction()))
                }
            }
        case .save(let session): save(session)
        case .startTimer(let timer, let delay):
            let ticket = environment.clock.schedule(after: delay) { [weak self] in
                self?.state.withLock { $0.timers[timer] = nil }
                self?.step(.timerFired(timer: timer))
            }
            state.withLock { $0.timers[timer] = ticket }
        case .cancelTimer(let timer): state.withLock { $0.timers.removeValue(forKey: timer) }?.cancel()
        case .publish(let next):
            let listeners = state.withLock { state in
                state.current = next
                return state.listeners
            }
            for listener in listeners { listener.yield(next) }
        case .answerWaiters(let token):
            let waiters = state.withLock { state in
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.resume(returning: token) }
        }
    }

    private func save(_ session: KizunaAuthSession?) {
        environment.spawn { [self] in
            do {
                try await store.save(session)
            } catch {
                environment.log.log(LogLine(.warning, "The session could not be kept; it ends with this process"))
            }
        }
    }
}
