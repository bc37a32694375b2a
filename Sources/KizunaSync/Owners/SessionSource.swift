internal import KizunaCore

/// Who is signed in, as the app's auth library knows it.
///
/// A lost session is not a sign-out: a source says `signedOut` only when the user signed out, or when it is certain
/// that nobody is signed in. While it cannot tell (a refresh failed offline, the Keychain is locked) it says nothing
/// or `restoring`; when the session ended without the user's doing, it says `lost`.
///
/// See docs/spec/owners.md, Session states.
public enum SessionState: Sendable, Equatable {
    /// A stored session is being restored; until it has, the last owner's rows are shown and nothing is sent.
    case restoring
    /// A user is signed in.
    case signedIn(userID: String, accessToken: String)
    /// There is no session, and nobody signed out: the server no longer accepts it, or none is stored. The last user's
    /// rows stay readable and that user's writes wait for the next sign-in; where nobody was signed in, nobody is.
    case lost
    /// Nobody is signed in: the user signed out.
    case signedOut
}

extension SessionState: CustomStringConvertible {
    /// The case alone; never the token.
    public var description: String {
        switch self {
        case .restoring: "restoring"
        case .signedIn: "signedIn"
        case .lost: "lost"
        case .signedOut: "signedOut"
        }
    }
}

extension SessionState: CustomReflectable {
    /// The case alone; never the token, which `dump(_:)` would show.
    public var customMirror: Mirror { Mirror(self, children: ["case": description], displayStyle: .enum) }
}

/// The port to the app's auth library.
public protocol SessionSource: Sendable {
    /// The session's states: the current one first, then each change. Called once per `create(_:)`.
    func states() -> AsyncStream<SessionState>

    /// A token for the signed-in user after the server did not accept the last one; nil when there is none now.
    /// Throws when it cannot be had at the moment (offline).
    func freshToken() async throws -> String?
}
