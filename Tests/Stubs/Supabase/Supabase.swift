// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
public import Foundation

// Stands in for the Supabase SDK's module: the declarations that the samples of the behaviour pages use, and no more.

/// The SDK's client.
public final class SupabaseClient: Sendable {
    /// Sessions.
    public let auth = AuthClient()
    /// Realtime channels.
    public let realtimeV2 = RealtimeClientV2()

    /// Makes a client.
    public init(supabaseURL: URL, supabaseKey: String) {}
}

/// The SDK's part for sessions.
public final class AuthClient: Sendable {
    /// The session, refreshed where its token has expired.
    public var session: Session {
        get async throws { throw AuthError.sessionMissing }
    }
}

/// A signed-in user's session.
public struct Session: Sendable {
    /// The token for requests.
    public let accessToken: String
}

/// What goes wrong with sessions.
public enum AuthError: Error {
    /// Nobody is signed in.
    case sessionMissing
}

/// The SDK's part for channels.
public final class RealtimeClientV2: Sendable {
    /// A channel of a topic.
    public func channel(_ topic: String) -> RealtimeChannelV2 { RealtimeChannelV2(topic: topic) }
}

/// A channel that never tells anything.
public final class RealtimeChannelV2: Sendable {
    /// What the channel is about.
    public let topic: String

    init(topic: String) { self.topic = topic }

    /// The messages of an event.
    public func broadcastStream(event: String) -> AsyncStream<[String: String]> { AsyncStream { $0.finish() } }

    /// Joins.
    public func subscribe() async {}

    /// Leaves.
    public func unsubscribe() async {}
}
