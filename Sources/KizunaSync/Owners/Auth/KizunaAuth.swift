public import Foundation
package import KizunaCore
internal import KizunaTransport
internal import Synchronization

/// A light client for Supabase Auth: sign-up, password sign-in, refresh with rotation, sign-out. It is a session source
/// for `KizunaSyncConfiguration.session`; an app that uses supabase-swift's Auth does not need it.
///
/// Access tokens are kept in memory, the refresh token in the store that the app passes. A refresh that fails offline is
/// repeated; only an explicit sign-out counts as signed out (docs/spec/owners.md, A lost session is not a sign-out).
public final class KizunaAuth: SessionSource {
    private struct State {
        var machine = SessionMachine()
        var effectQueue = EffectQueue<SessionMachine.Effect>()
        var current = SessionState.restoring
        var listeners: [Int: AsyncStream<SessionState>.Continuation] = [:]
        var lastListener = 0
        var waiters: [CheckedContinuation<String?, Never>] = []
        var lastEntry = 0
        var hasStarted = false
        /// The session to save, or nil inside where the saved session is to be removed. Outer nil: everything is saved.
        var unsaved: KizunaAuthSession??
        var isSaving = false
        var saved: [AsyncGate] = []
        /// Refresh tokens that this process has used.
        var spent: Set<String> = []
    }

    private let gateway: AuthGateway
    private let store: any KizunaAuthStore
    private let environment: SyncEnvironment
    private let state = Mutex(State())
    private let timers: TimerSet

    /// Makes a client of a project.
    ///
    /// - Parameters:
    ///   - url: the project's URL.
    ///   - publishableKey: the project's publishable key.
    ///   - store: saves the session between launches.
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
        timers = TimerSet(clock: environment.clock)
    }

    // MARK: - The app's calls

    /// Signs a new user up and in. Returns false if the user must confirm the address first.
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

    /// Requests a session, and uses it unless another sign-in or a sign-out was requested later.
    @discardableResult
    private func enter(_ ask: () async throws -> AuthGrant?) async throws -> Bool {
        let entry = state.withLock { state in
            state.lastEntry += 1
            return state.lastEntry
        }
        step(.signInBegan(entry: entry))
        guard let grant = try await ask() else { return false }
        guard step(.signedIn(entry: entry, grant)) else {
            throw SyncError(.discarded, "Another sign-in, or a sign-out, was requested after this sign-in.")
        }
        return true
    }

    /// Signs the user out on this device at once, and on the server if it can be reached.
    ///
    /// When it returns, the saved session is removed, or the removal failed and is repeated.
    public func signOut() async {
        let gate = AsyncGate()
        let (token, isPerformer) = state.withLock { state in
            let token = state.machine.token
            state.saved.append(gate)
            return (token, take(.signedOut, in: &state).isPerformer)
        }
        if isPerformer { performEffects() }
        await gate.wait()
        if let token { await revoke(token) }
    }

    private func revoke(_ accessToken: String) async {
        do {
            try await gateway.signOut(accessToken: accessToken)
        } catch {
            // The device is signed out in any case, and the token expires.
            environment.log.log(LogLine(.info, "The sign-out request to the auth server failed"))
        }
    }

    /// The id of the signed-in user, also while its token is being refreshed or the server has ended the session.
    public var userID: String? { state.withLock { $0.machine.userID } }

    // MARK: - SessionSource

    /// The session's states: the current one first, then each change.
    public func states() -> AsyncStream<SessionState> {
        AsyncStream(bufferingPolicy: .bufferingNewest(16)) { continuation in
            // Sent under the lock, here and at each change, so that the newest state is the last one for every listener.
            let isPerformer = state.withLock { state in
                state.lastListener += 1
                let id = state.lastListener
                state.listeners[id] = continuation
                continuation.onTermination = { [weak self] _ in
                    guard let self else { return }
                    environment.spawn { self.forget(id) }
                }
                continuation.yield(state.current)
                guard !state.hasStarted else { return false }
                state.hasStarted = true
                return state.effectQueue.add([SessionMachine.start])
            }
            if isPerformer { performEffects() }
        }
    }

    private func forget(_ listener: Int) { state.withLock { $0.listeners[listener] = nil } }

    /// Returns a new access token after the last one was rejected, nil when none is available.
    public func freshToken() async throws -> String? {
        await withCheckedContinuation { continuation in
            state.withLock { $0.waiters.append(continuation) }
            step(.tokenRejected)
        }
    }

    // MARK: - The step

    /// Takes an event and performs its effects, unless another thread performs them. Returns whether the event counted for
    /// the session.
    @discardableResult
    private func step(_ event: SessionMachine.Event) -> Bool {
        let (isAccepted, isPerformer) = state.withLock { take(event, in: &$0) }
        if isPerformer { performEffects() }
        return isAccepted
    }

    /// Queues the effects of an event. A session to save is recorded in the same critical section: a save that ends before the
    /// effect is performed must not open the gates of this one.
    private func take(_ event: SessionMachine.Event, in state: inout State) -> (isAccepted: Bool, isPerformer: Bool) {
        let effects = state.machine.handle(event)
        var isAccepted = true
        for effect in effects {
            switch effect {
            case .save(let session): state.unsaved = .some(session)
            case .revoke: isAccepted = false
            default: break
            }
        }
        return (isAccepted, state.effectQueue.add(effects))
    }

    private func performEffects() {
        while let next = state.withLock({ $0.effectQueue.next() }) { perform(next) }
    }

    private func perform(_ effect: SessionMachine.Effect) {
        switch effect {
        case .load: environment.spawn { [self] in await load() }
        case .refresh(let generation, let token): environment.spawn { [self] in await refresh(generation, token) }
        case .save: startSaving()
        case .startTimer(let timer, let delay):
            timers.start(timer, after: delay) { [weak self] in self?.step(.timerFired(timer: timer)) }
        case .cancelTimer(let timer): timers.cancel(timer)
        case .publish(let next):
            state.withLock { state in
                state.current = next
                for listener in state.listeners.values { listener.yield(next) }
            }
        case .responseWaiters(let token):
            let waiters = state.withLock { state in
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.resume(returning: token) }
        case .revoke(let token): environment.spawn { [self] in await revoke(token) }
        }
    }

    private func startSaving() {
        let isFirst = state.withLock { state in
            defer { state.isSaving = true }
            return !state.isSaving
        }
        if isFirst { environment.spawn { [self] in await save() } }
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
        let (userID, isKept) = state.withLock { ($0.machine.userID, $0.unsaved == nil && !$0.isSaving) }
        // A session that this process has not saved yet is newer than the saved one.
        guard isKept else { return held }
        do {
            guard let kept = try await store.load(), kept.userID == userID else { return held }
            // A store that does not save holds no newer token.
            let isSpent = state.withLock { $0.spent.contains(kept.refreshToken) }
            return isSpent ? held : kept.refreshToken
        } catch {
            // The store is locked: the token in memory is the newest known.
            return held
        }
    }

    /// Saves the unsaved session: one save at a time, the newest last. A save that fails is repeated.
    private func save() async {
        var failures = 0
        while let next = nextToSave() {
            do {
                try await store.save(next)
                failures = 0
                openSaved { $0.unsaved == nil }
            } catch {
                failures += 1
                environment.log.log(LogLine(.warning, "The session could not be saved; the save is repeated"))
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
