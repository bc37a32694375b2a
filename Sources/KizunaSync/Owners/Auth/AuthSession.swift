/// A session of Supabase Auth as it is kept: who is signed in, and the token that gets new access tokens.
public struct KizunaAuthSession: Sendable, Equatable, Codable {
    /// The user's id.
    public let userID: String
    /// Gets the next access token; the server gives a new one with each.
    public let refreshToken: String

    /// Makes a session from its parts, for a store of the app's own.
    public init(userID: String, refreshToken: String) {
        self.userID = userID
        self.refreshToken = refreshToken
    }
}

extension KizunaAuthSession: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A placeholder: a token must not reach a log by accident.
    public var description: String { "KizunaAuthSession" }
    /// A placeholder: a token must not reach a log by accident.
    public var debugDescription: String { description }
    /// Empty: `dump(_:)` must not show the token either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Where a session is kept between starts. This package writes tokens to no file of its own: without a store the user
/// signs in again at each start.
public protocol KizunaAuthStore: Sendable {
    /// The kept session, nil where there is none. Throws when it cannot be read at the moment, for example while the
    /// device is locked: then it is asked again, and the last owner's rows stay on screen.
    func load() async throws -> KizunaAuthSession?
    /// Keeps a session, or forgets the kept one.
    func save(_ session: KizunaAuthSession?) async throws
}

/// Keeps the session in memory: it ends with the process.
public final class KizunaAuthMemoryStore: KizunaAuthStore {
    /// Makes a store that holds nothing.
    public init() {}
    /// There is never a kept session.
    public func load() async throws -> KizunaAuthSession? { nil }
    /// Keeps nothing.
    public func save(_ session: KizunaAuthSession?) async throws {}
}

/// What the auth server answered to a sign-in, sign-up or refresh.
package struct AuthGrant: Sendable, Equatable {
    package let session: KizunaAuthSession
    package let accessToken: String
    /// How long the access token holds from its receipt.
    package let lifetime: Duration

    package init(session: KizunaAuthSession, accessToken: String, lifetime: Duration) {
        self.session = session
        self.accessToken = accessToken
        self.lifetime = lifetime
    }
}
