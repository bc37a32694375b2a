internal import KizunaCore
internal import Synchronization

/// The session of an app that passes tokens with `setAccessToken(_:)`. Its states go directly to the owner machine, in the
/// order of the calls.
final class TokenSession: SessionSource {
    /// Until the first token comes, the session is restoring when an owner is remembered, so that the rows of the last
    /// user are on screen at a start without network; else nobody is signed in.
    let initial: SessionState

    /// The last token that the app passed.
    private let last = Mutex<String?>(nil)

    init(hasLastOwner: Bool) { initial = hasLastOwner ? .restoring : .signedOut }

    func states() -> AsyncStream<SessionState> {
        AsyncStream { $0.finish() }
    }

    func note(_ state: SessionState) {
        last.withLock { last in
            if case .signedIn(_, let token) = state { last = token } else { last = nil }
        }
    }

    /// The app refreshes its session itself and passes the new token; until then this is the previous one.
    func freshToken() async throws -> String? { last.withLock { $0 } }
}
