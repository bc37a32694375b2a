#if SupabaseSwift
    internal import Foundation
    internal import KizunaCore
    public import Supabase
    internal import Synchronization

    /// The session of an app that signs in with supabase-swift, for `KizunaSyncConfiguration.session`.
    ///
    /// It follows `auth.authStateChanges`. supabase-swift refreshes the token by itself; where the server did not accept
    /// one, a new one is asked for. Offline, with a session stored, the last user's rows stay readable. Needs the package
    /// trait `SupabaseSwift`.
    ///
    /// See docs/spec/owners.md, A lost session is not a sign-out; docs/field-failures.md, rows 2 to 4.
    public final class SupabaseSession: SessionSource {
        private struct State {
            var machine: SupabaseSessionMachine
            var listeners: [Int: AsyncStream<SessionState>.Continuation] = [:]
            var lastListener = 0
        }

        private let client: SupabaseClient
        private let environment = SyncEnvironment.live()
        private let state: Mutex<State>

        /// Makes a session source of a client.
        ///
        /// - Parameters:
        ///   - client: the app's one client of supabase-swift.
        ///   - signedOutEvents: what its `signedOut` events stand for; by default a lost session, so that the app signs
        ///     out with `signOut(scope:)`.
        public init(client: SupabaseClient, signedOutEvents: SignedOutEventMeaning = .lostSession) {
            self.client = client
            state = Mutex(State(machine: SupabaseSessionMachine(signedOutEvents: signedOutEvents)))
        }

        /// Signs the user out on this device at once, and ends the session on the server as the scope says.
        ///
        /// Offline the device is signed out all the same. With the scope `others` this device stays signed in.
        ///
        /// - Throws: supabase-swift's error, where the server could not be told.
        public func signOut(scope: SignOutScope = .global) async throws {
            if scope != .others { step(.signOutAsked) }
            try await client.auth.signOut(scope: scope)
        }

        /// The session's states: the present one first, then each change.
        public func states() -> AsyncStream<SessionState> {
            AsyncStream(bufferingPolicy: .bufferingNewest(16)) { continuation in
                let listener = state.withLock { state in
                    state.lastListener += 1
                    state.listeners[state.lastListener] = continuation
                    return state.lastListener
                }
                let following = environment.spawn { [self] in
                    for await (event, session) in client.auth.authStateChanges { take(event, session) }
                }
                continuation.onTermination = { [weak self] _ in
                    following.cancel()
                    self?.forget(listener)
                }
            }
        }

        /// A new access token from the auth server; nil where no session is stored.
        ///
        /// - Throws: supabase-swift's error, offline and where the server refuses to renew the session.
        public func freshToken() async throws -> String? {
            guard client.auth.currentSession != nil else { return nil }
            return try await client.auth.refreshSession().accessToken
        }

        private func forget(_ listener: Int) { state.withLock { $0.listeners[listener] = nil } }

        private func take(_ event: AuthChangeEvent, _ session: Session?) {
            let session = session.map {
                SupabaseSessionMachine.Session(userID: Self.userID(of: $0), accessToken: $0.accessToken)
            }
            switch (event, session) {
            case (.initialSession, _): step(.initial(session, isStored: client.auth.currentSession != nil))
            case (.signedOut, _), (.userDeleted, _): step(.signedOut)
            case (.tokenRefreshed, let session?), (.userUpdated, let session?): step(.continued(session))
            case (_, let session?): step(.signedIn(session))
            case (_, nil): break
            }
        }

        /// The token's own subject, as for tokens that are handed over.
        private static func userID(of session: Session) -> String {
            (try? AccessToken(session.accessToken))?.userID ?? session.user.id.uuidString.lowercased()
        }

        private func step(_ event: SupabaseSessionMachine.Event) {
            // Told under the lock, so that every listener hears the newest last.
            state.withLock { state in
                guard let next = state.machine.handle(event) else { return }
                for listener in state.listeners.values { listener.yield(next) }
            }
        }
    }
#endif
