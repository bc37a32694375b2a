internal import KizunaCore

/// The state of the session, as the app's auth library reports it.
///
/// A lost session is not a sign-out: a source reports `signedOut` only when the user signed out, or when nobody is certainly signed
/// in. While this is unknown (a refresh failed offline, the Keychain is locked) it reports nothing or `restoring`; when the
/// session ended without an action of the user, it reports `lost`.
///
/// See docs/spec/owners.md, Session states.
public enum SessionState: Sendable, Equatable {
    /// A stored session is being restored; until then the last owner's rows are shown and nothing is sent.
    case restoring
    /// A user is signed in.
    case signedIn(userID: String, accessToken: String)
    /// There is no session although the user did not sign out: the server rejects it, or none is stored. The last user's rows
    /// stay readable, and that user's mutations wait for the next sign-in.
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

    /// Returns a token for the signed-in user after the server rejected the last one, nil when none is available. Throws when
    /// the request for one fails, for example offline.
    func freshToken() async throws -> String?
}
