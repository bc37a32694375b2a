internal import KizunaCore
internal import Synchronization

/// The session of an app that hands over tokens with `setAccessToken(_:)`.
///
/// Until the first token comes, the session is restoring when an owner is remembered, so that the rows of the last
/// user are on screen at a start without network; else nobody is signed in.
final class TokenSession: SessionSource {
    private struct State {
        var current: SessionState
        var listeners: [AsyncStream<SessionState>.Continuation] = []
    }

    private let state: Mutex<State>

    init(hasLastOwner: Bool) {
        state = Mutex(State(current: hasLastOwner ? .restoring : .signedOut))
    }

    func set(_ next: SessionState) {
        let listeners = state.withLock { state in
            state.current = next
            return state.listeners
        }
        for listener in listeners { listener.yield(next) }
    }

    func states() -> AsyncStream<SessionState> {
        AsyncStream(bufferingPolicy: .bufferingNewest(16)) { continuation in
            let current = state.withLock { state in
                state.listeners.append(continuation)
                return state.current
            }
            continuation.yield(current)
        }
    }

    /// The app refreshes its session itself and hands over the new token; there is none to ask for.
    func freshToken() async throws -> String? { nil }
}
