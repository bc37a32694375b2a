public import Foundation
package import KizunaCore
internal import KizunaTransport
internal import Synchronization

/// A light client for Supabase Auth: sign-up, password sign-in, refresh with rotation, sign-out. It is a session source
/// for `KizunaSyncConfiguration.session`; an app that uses supabase-swift's Auth does not need it.
///
/// Tokens are kept in memory, and the refresh token in the store the app gives. A refresh that fails offline is tried
/// again; only an explicit sign-out reads as signed out (docs/spec/owners.md, A lost session is not a sign-out).
public final class KizunaAuth: SessionSource {
    private struct State {
        var machine = SessionMachine()
        var current = SessionState.restoring
        var listeners: [Int: AsyncStream<SessionState>.Continuation] = [:]
        var lastListener = 0
        var waiters: [CheckedContinuation<String?, Never>] = []
        var timers: [Int: TimerTicket] = [:]
        var lastEntry = 0
        var hasStarted = false
        /// What is to be kept, when it is not yet: a session, or that there is none.
        var unsaved: KizunaAuthSession??
        var isSaving = false
        var saved: [AsyncGate] = []
        /// Refresh tokens this process has used up.
        var spent: Set<String> = []
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
        gateway = AuthGateway(base: url.textWithoutTrailingSlash, publishableKey: publishableKey, transport: transport)
        self.store = store
        self.environment = environment
    }

    // MARK: - The app's calls

    /// Signs a new user up and in; false where the user has to confirm the address first.
    ///
    /// - Throws: `SyncError`: `connectivity` offline, `server` with the reason (`user_already_exists`, `weak_password`).
    @discardableResult
    public func signUp(email: String, password: String) async throws -> Bool {
        try await enter { try await self.gateway.signUp(email: email, password: password) }
    }

    /// Signs a user in with a password.
    ///
    /// - Throws: `SyncError`: `connectivity` offline, `server` with code `invalid_credentials` and others.
    public func signIn(email: String, password: String) async throws {
        try await enter { try await self.gateway.signIn(email: email, password: password) }
    }

    /// Asks for a session, and takes it unless another sign-in or a sign-out was asked for meanwhile.
    @discardableResult
    private func enter(_ ask: () async throws -> AuthGrant?) async throws -> Bool {
        let entry = state.withLock { state in
            state.lastEntry += 1
            return state.lastEntry
        }
        step(.signInBegan(entry: entry))
        guard let grant = try await ask() else { return false }
        guard step(.signedIn(entry: entry, grant)) else {
            throw SyncError(.discarded, "Another sign-in, or a sign-out, was asked for after this sign-in.")
        }
        return true
    }

    /// Signs the user out on this device at once, and tells the server if it can be reached.
    ///
    /// When it returns, the kept session is forgotten, or its store could not be written and is tried again.
    public func signOut() async {
        let gate = AsyncGate()
        let token = state.withLock { state in
            defer { take(.signedOut, in: &state) }
            state.saved.append(gate)
            return state.machine.token
        }
        await gate.wait()
        if let token { await revoke(token) }
    }

    private func revoke(_ accessToken: String) async {
        do {
            try await gateway.signOut(accessToken: accessToken)
        } catch {
            // The device is signed out whatever the server says; the token ends by itself.
            environment.log.log(LogLine(.info, "The auth server could not be told of a sign-out"))
        }
    }

    /// The id of the signed-in user, also while its token is being refreshed or the server has ended the session.
    public var userID: String? { state.withLock { $0.machine.userID } }

    // MARK: - SessionSource

    /// The session's states: the current one first, then each change.
    public func states() -> AsyncStream<SessionState> {
        AsyncStream(bufferingPolicy: .bufferingNewest(16)) { continuation in
            // Told under the lock, here and at each change, so that every listener hears the newest last.
            state.withLock { state in
                state.lastListener += 1
                let id = state.lastListener
                state.listeners[id] = continuation
                continuation.onTermination = { [weak self] _ in
                    guard let self else { return }
                    environment.spawn { self.forget(id) }
                }
                continuation.yield(state.current)
                guard !state.hasStarted else { return }
                state.hasStarted = true
                perform(SessionMachine.start, in: &state)
            }
        }
    }

    private func forget(_ listener: Int) { state.withLock { $0.listeners[listener] = nil } }

    /// A new access token after the last one was not accepted; nil when there is none for now.
    public func freshToken() async throws -> String? {
        await withCheckedContinuation { continuation in
            state.withLock { $0.waiters.append(continuation) }
            step(.tokenRejected)
        }
    }

    // MARK: - The step

    /// Takes an event; what follows from it happens under the lock, in order, and only starts things. Says whether the
    /// event counted for the session.
    @discardableResult
    private func step(_ event: SessionMachine.Event) -> Bool {
        state.withLock { take(event, in: &$0) }
    }

    @discardableResult
    private func take(_ event: SessionMachine.Event, in state: inout State) -> Bool {
        let effects = state.machine.handle(event)
        for effect in effects { perform(effect, in: &state) }
        return !effects.contains { if case .revoke = $0 { true } else { false } }
    }

    private func perform(_ effect: SessionMachine.Effect, in state: inout State) {
        switch effect {
        case .load: environment.spawn { [self] in await load() }
        case .refresh(let generation, let token): environment.spawn { [self] in await refresh(generation, token) }
        case .save(let session):
            state.unsaved = .some(session)
            guard !state.isSaving else { return }
            state.isSaving = true
            environment.spawn { [self] in await save() }
        case .startTimer(let timer, let delay):
            state.timers[timer] = environment.clock.schedule(after: delay) { [weak self] in
                self?.state.withLock { $0.timers[timer] = nil }
                self?.step(.timerFired(timer: timer))
            }
        case .cancelTimer(let timer): state.timers.removeValue(forKey: timer)?.cancel()
        case .publish(let next):
            state.current = next
            for listener in state.listeners.values { listener.yield(next) }
        case .responseWaiters(let token):
            for waiter in state.waiters { waiter.resume(returning: token) }
            state.waiters = []
        case .revoke(let token): environment.spawn { [self] in await revoke(token) }
        }
    }

    private func load() async {
        do {
            step(.restored(try await store.load()))
        } catch {
            step(.notRestored(jitter: environment.randomFraction()))
        }
    }

    private func refresh(_ generation: Int, _ token: String) async {
        do {
            let newest = await newest(token)
            let grant = try await gateway.refresh(newest)
            state.withLock { _ = $0.spent.insert(newest) }
            step(.refreshed(generation: generation, grant))
        } catch {
            let failure = error as? SyncError
            step(
                .refreshFailed(
                    generation: generation, isRejected: failure?.endsSession ?? false,
                    jitter: environment.randomFraction(), retryAfter: failure?.retryAfter))
        }
    }

    /// The refresh token to use: the kept one, where another process of the app that shares the store has refreshed the session
    /// since. The server takes an old one for stolen and ends the session for all.
    private func newest(_ held: String) async -> String {
        let (userID, isKept) = state.withLock { ($0.machine.userID, !$0.isSaving) }
        // What this process has not kept yet is newer than whatever is kept.
        guard isKept else { return held }
        do {
            guard let kept = try await store.load(), kept.userID == userID else { return held }
            // A store that does not keep what it is told has nothing newer.
            let isSpent = state.withLock { $0.spent.contains(kept.refreshToken) }
            return isSpent ? held : kept.refreshToken
        } catch {
            // Locked: the token at hand is the best there is.
            return held
        }
    }

    /// Keeps what is to be kept: one save at a time, the newest last, and again where one fails.
    private func save() async {
        var failures = 0
        while let next = nextToSave() {
            do {
                try await store.save(next)
                failures = 0
                openSaved { $0.unsaved == nil }
            } catch {
                failures += 1
                environment.log.log(LogLine(.warning, "The session could not be kept; it is tried again"))
                state.withLock { state in
                    if state.unsaved == nil { state.unsaved = .some(next) }
                }
                openSaved { _ in true }
                // Cancelled only with the process.
                try? await environment.sleep(RetrySchedule.refresh.wait(afterFailure: failures))
            }
        }
    }

    private func nextToSave() -> KizunaAuthSession?? {
        state.withLock { state in
            guard let next = state.unsaved else {
                state.isSaving = false
                return nil
            }
            state.unsaved = nil
            return .some(next)
        }
    }

    private func openSaved(if isDone: (State) -> Bool) {
        let gates = state.withLock { state -> [AsyncGate] in
            guard isDone(state) else { return [] }
            defer { state.saved = [] }
            return state.saved
        }
        for gate in gates { gate.open() }
    }
}
