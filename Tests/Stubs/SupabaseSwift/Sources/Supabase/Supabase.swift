// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
public import Foundation
internal import Synchronization

// Stands in for the Supabase SDK's module (2.55): the declarations that this package and the samples of the behaviour
// pages use, and no more. What a test sets or reads is in the extensions named "test".

/// The SDK's client.
public final class SupabaseClient: Sendable {
    /// Sessions.
    public let auth = AuthClient()
    /// Realtime channels.
    public let realtimeV2 = RealtimeClientV2()

    /// Makes a client.
    public init(supabaseURL: URL, supabaseKey: String) {}

    /// A channel of a name.
    public func channel(
        _ name: String, options: @Sendable (inout RealtimeChannelConfig) -> Void = { _ in }
    ) -> RealtimeChannelV2 { realtimeV2.channel(name, options: options) }

    /// Leaves a channel.
    public func removeChannel(_ channel: RealtimeChannelV2) async { await realtimeV2.removeChannel(channel) }
}

/// The SDK's part for sessions.
public actor AuthClient {
    private typealias Listener = AsyncStream<(event: AuthChangeEvent, session: Session?)>.Continuation

    private struct State {
        var stored: Session?
        var canRefresh = true
        var listeners: [Listener] = []
        var calls: [String] = []
    }

    private let state = Mutex(State())

    init() {}

    /// The session, refreshed where its token has expired.
    public var session: Session {
        get async throws { throw AuthError.sessionMissing }
    }

    /// The stored session, perhaps expired.
    nonisolated public var currentSession: Session? { state.withLock { $0.stored } }

    /// The initial session, then each change.
    nonisolated public var authStateChanges: AsyncStream<(event: AuthChangeEvent, session: Session?)> {
        AsyncStream { continuation in
            state.withLock { state in
                state.listeners.append(continuation)
                continuation.yield((.initialSession, state.canRefresh ? state.stored : nil))
            }
        }
    }

    /// Gets a new token.
    public func refreshSession(refreshToken: String? = nil) async throws -> Session {
        try state.withLock { state in
            state.calls.append("refresh")
            guard state.canRefresh, let stored = state.stored else { throw AuthError.sessionMissing }
            return stored
        }
    }

    /// Signs in.
    @discardableResult
    public func signIn(email: String, password: String) async throws -> Session { throw AuthError.sessionMissing }

    /// Ends the session.
    public func signOut(scope: SignOutScope = .global) async throws {
        note("signOut \(scope.rawValue)")
        if scope != .others { tell(.signedOut, nil, storing: nil) }
    }

    nonisolated private func note(_ call: String) { state.withLock { $0.calls.append(call) } }
}

/// What happens to sessions.
public enum AuthChangeEvent: String, Sendable {
    case initialSession = "INITIAL_SESSION"
    case passwordRecovery = "PASSWORD_RECOVERY"
    case signedIn = "SIGNED_IN"
    case signedOut = "SIGNED_OUT"
    case tokenRefreshed = "TOKEN_REFRESHED"
    case userUpdated = "USER_UPDATED"
    case userDeleted = "USER_DELETED"
    case mfaChallengeVerified = "MFA_CHALLENGE_VERIFIED"
}

/// Which sessions a sign-out ends.
public enum SignOutScope: String, Sendable {
    case global
    case local
    case others
}

/// A signed-in user's session.
public struct Session: Sendable {
    /// The token for requests.
    public let accessToken: String
    /// Who is signed in.
    public let user: User
}

/// A user.
public struct User: Sendable {
    /// The user's id.
    public let id: UUID
}

/// What goes wrong with sessions.
public enum AuthError: Error {
    /// Nobody is signed in.
    case sessionMissing
}

/// The SDK's part for channels.
public final class RealtimeClientV2: Sendable {
    private let channels = Mutex<[RealtimeChannelV2]>([])
    private let failures = Mutex(0)

    init() {}

    /// A channel of a topic: the one there is, until it is removed.
    public func channel(
        _ topic: String, options: @Sendable (inout RealtimeChannelConfig) -> Void = { _ in }
    ) -> RealtimeChannelV2 {
        var config = RealtimeChannelConfig(isPrivate: false)
        options(&config)
        let channel = RealtimeChannelV2(topic: topic, config: config, failures: failures.withLock { $0 })
        return channels.withLock { channels in
            if let present = channels.first(where: { $0.topic == topic && !$0.isRemoved }) { return present }
            channels.append(channel)
            return channel
        }
    }

    func removeChannel(_ channel: RealtimeChannelV2) async {
        // The server is told, and answers, which takes a while.
        for _ in 0..<1_000 { await Task.yield() }
        await channel.unsubscribe()
        channel.remove()
    }
}

/// How a channel is joined.
public struct RealtimeChannelConfig: Sendable {
    /// Whether row level security decides who may join.
    public var isPrivate: Bool
}

/// Where a channel stands.
public enum RealtimeChannelStatus: Sendable {
    case unsubscribed
    case subscribing
    case subscribed
    case unsubscribing
}

/// The SDK's name for a JSON object.
public typealias JSONObject = [String: String]

/// A channel.
public final class RealtimeChannelV2: Sendable {
    private struct State {
        var status = RealtimeChannelStatus.unsubscribed
        var failures: Int
        var isRemoved = false
        var listeners: [AsyncStream<RealtimeChannelStatus>.Continuation] = []
        var messages: [(event: String, AsyncStream<JSONObject>.Continuation)] = []
    }

    /// What the channel is about.
    public let topic: String
    private let config: RealtimeChannelConfig
    private let state: Mutex<State>

    init(topic: String, config: RealtimeChannelConfig, failures: Int) {
        self.topic = topic
        self.config = config
        state = Mutex(State(failures: failures))
    }

    var isRemoved: Bool { state.withLock { $0.isRemoved } }

    func remove() { state.withLock { $0.isRemoved = true } }

    /// The present status, then each change.
    public var statusChange: AsyncStream<RealtimeChannelStatus> {
        AsyncStream { continuation in
            state.withLock { state in
                state.listeners.append(continuation)
                continuation.yield(state.status)
            }
        }
    }

    /// The messages of an event.
    public func broadcastStream(event: String) -> AsyncStream<JSONObject> {
        AsyncStream { continuation in state.withLock { $0.messages.append((event, continuation)) } }
    }

    /// Joins.
    public func subscribe() async { try? await subscribeWithError() }

    /// Joins, or says why not.
    public func subscribeWithError() async throws {
        try state.withLock { state in
            guard state.failures == 0 else {
                state.failures -= 1
                throw AuthError.sessionMissing
            }
        }
        tell(.subscribed)
    }

    /// Leaves.
    public func unsubscribe() async { tell(.unsubscribed) }

    private func tell(_ status: RealtimeChannelStatus) {
        state.withLock { state in
            state.status = status
            for listener in state.listeners { listener.yield(status) }
        }
    }
}

// MARK: - test: what only the stand-in has

extension AuthClient {
    /// The calls made.
    nonisolated public var calls: [String] { state.withLock { $0.calls } }

    /// Whether the auth server can be reached.
    nonisolated public func setReachable(_ isReachable: Bool) { state.withLock { $0.canRefresh = isReachable } }

    /// Stores a session without a word, as a former run of the app did.
    nonisolated public func store(_ session: Session?) { state.withLock { $0.stored = session } }

    /// Stores and tells.
    nonisolated public func tell(_ event: AuthChangeEvent, _ session: Session?, storing stored: Session?) {
        state.withLock { state in
            state.stored = stored
            for listener in state.listeners { listener.yield((event, session)) }
        }
    }
}

extension Session {
    /// Makes a session of a user.
    public init(accessToken: String, userID: UUID) { self.init(accessToken: accessToken, user: User(id: userID)) }
}

extension RealtimeClientV2 {
    /// The channels made.
    public var made: [RealtimeChannelV2] { channels.withLock { $0 } }

    /// Lets the first joins of each channel made from now on fail.
    public func failFirstJoins(_ count: Int) { failures.withLock { $0 = count } }
}

extension RealtimeChannelV2 {
    /// Whether the channel was asked for as a private one.
    public var isPrivate: Bool { config.isPrivate }

    /// The present status.
    public var status: RealtimeChannelStatus { state.withLock { $0.status } }

    /// What a reconnect of the socket does.
    public func rejoin() {
        tell(.unsubscribed)
        tell(.subscribed)
    }

    /// Broadcasts a message.
    public func broadcast(_ event: String) {
        state.withLock { state in
            guard state.status == .subscribed else { return }
            for message in state.messages where message.event == event { message.1.yield([:]) }
        }
    }
}
