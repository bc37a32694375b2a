internal import KizunaCore

/// The session of an app that hands over tokens with `setAccessToken(_:)`: its states go straight to the owner's machine,
/// in the order of the calls.
struct TokenSession: SessionSource {
    /// Until the first token comes, the session is restoring when an owner is remembered, so that the rows of the last
    /// user are on screen at a start without network; else nobody is signed in.
    let initial: SessionState

    init(hasLastOwner: Bool) { initial = hasLastOwner ? .restoring : .signedOut }

    func states() -> AsyncStream<SessionState> {
        AsyncStream { $0.finish() }
    }

    /// The app refreshes its session itself and hands over the new token; there is none to ask for.
    func freshToken() async throws -> String? { nil }
}
