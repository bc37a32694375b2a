internal import KizunaCore
public import KizunaSync
internal import Synchronization

/// A session whose states a test sets.
///
/// ```swift
/// let session = FakeSession()                     // restoring
/// session.signIn("alice")
/// ```
public final class FakeSession: SessionSource {
    private struct State {
        var current: SessionState
        var listeners: [AsyncStream<SessionState>.Continuation] = []
        var freshTokens: [String?] = []
        var askedCount = 0
    }

    private let state: Mutex<State>

    /// Makes a session in a state; by default one that is being restored.
    public init(_ initial: SessionState = .restoring) { state = Mutex(State(current: initial)) }

    /// The session's state. Setting it tells the client.
    public var current: SessionState {
        get { state.withLock { $0.current } }
        set {
            // Told under the lock, so that every listener hears the newest last.
            state.withLock { state in
                state.current = newValue
                for listener in state.listeners { listener.yield(newValue) }
            }
        }
    }

    /// Signs a user in with a test token that does not expire.
    public func signIn(_ userID: String) {
        current = .signedIn(userID: userID, accessToken: TestToken.make(userID: userID))
    }

    /// Signs the user out.
    public func signOut() { current = .signedOut }

    /// Ends the session without the user's doing.
    public func lose() { current = .lost }

    /// Queues what the next calls of `freshToken()` give: a token, or nil for none.
    public func enqueueFreshTokens(_ tokens: String?...) {
        state.withLock { $0.freshTokens += tokens }
    }

    /// How often the client asked for a fresh token.
    public var freshTokenCount: Int { state.withLock { $0.askedCount } }

    /// The current state, then each change.
    public func states() -> AsyncStream<SessionState> {
        AsyncStream { continuation in
            state.withLock { state in
                state.listeners.append(continuation)
                continuation.yield(state.current)
            }
        }
    }

    /// The next queued token; nil where none is queued.
    public func freshToken() async throws -> String? {
        state.withLock { state in
            state.askedCount += 1
            return state.freshTokens.isEmpty ? nil : state.freshTokens.removeFirst()
        }
    }
}
