internal import KizunaCore
public import KizunaSync
internal import Synchronization

/// A session whose state a test sets.
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
        var freshTokenCalls = 0
    }

    private let state: Mutex<State>

    /// Creates a session in a state, by default `restoring`.
    public init(_ initial: SessionState = .restoring) { state = Mutex(State(current: initial)) }

    /// The session's state. Setting it notifies the client.
    public var current: SessionState {
        get { state.withLock { $0.current } }
        set {
            // Yielded under the lock, so that the last value of every listener is the newest.
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

    /// Loses the session without an action of the user.
    public func lose() { current = .lost }

    /// Queues the results of the next calls of `freshToken()`: a token, or nil for none.
    public func enqueueFreshTokens(_ tokens: String?...) {
        state.withLock { $0.freshTokens += tokens }
    }

    /// The number of calls of `freshToken()`.
    public var freshTokenCount: Int { state.withLock { $0.freshTokenCalls } }

    /// Returns the current state, then each change.
    public func states() -> AsyncStream<SessionState> {
        AsyncStream { continuation in
            state.withLock { state in
                state.listeners.append(continuation)
                continuation.yield(state.current)
            }
        }
    }

    /// Returns the next queued token; nil if none is queued.
    public func freshToken() async throws -> String? {
        state.withLock { state in
            state.freshTokenCalls += 1
            return state.freshTokens.isEmpty ? nil : state.freshTokens.removeFirst()
        }
    }
}
