/// Decides what the events of supabase-swift's Auth mean for whose rows are shown. Pure.
///
/// supabase-swift tells one event, `signedOut`, of two things: the user signed out, and the server no longer accepts the
/// session. Only the first may take rows from the screen, so unless told otherwise the machine takes it for a sign-out
/// when one was asked for, and for a lost session when not.
///
/// States:
/// - `following`: what Auth tells counts.
/// - `ended`: signed out; news of the old session that come late are dropped. → `following` at a sign-in.
///
/// See docs/spec/owners.md, A lost session is not a sign-out; docs/field-failures.md, rows 2 to 4.
package struct SupabaseSessionMachine: Sendable {
    package enum Event: Sendable, Equatable {
        /// The first event of a listener: a session, perhaps one whose token has run out; nil where it could not be
        /// had. `isStored` says whether a session is stored all the same, which offline may be.
        case initial(Session?, isStored: Bool)
        /// Somebody signed in, by whatever way.
        case signedIn(Session)
        /// The session goes on: with a new token or a changed user.
        case continued(Session)
        case signedOut
        /// The app asks for a sign-out.
        case signOutAsked
    }

    /// What is used of a session.
    package struct Session: Sendable, Equatable {
        package let userID: String
        package let accessToken: String

        package init(userID: String, accessToken: String) {
            self.userID = userID
            self.accessToken = accessToken
        }

        fileprivate var state: SessionState { .signedIn(userID: userID, accessToken: accessToken) }
    }

    private let signedOutEvents: SignedOutEventMeaning
    private var hasEnded = false

    package init(signedOutEvents: SignedOutEventMeaning) { self.signedOutEvents = signedOutEvents }

    /// The state to tell, nil where there is nothing new to tell.
    package mutating func handle(_ event: Event) -> SessionState? {
        switch event {
        case .initial(let session, let isStored):
            // Whoever begins to listen after the end has to be told of it.
            guard !hasEnded else { return .signedOut }
            if let session { return session.state }
            if isStored { return .restoring }
            return signedOutEvents == .signOut ? .signedOut : .lost
        case .signedIn(let session):
            hasEnded = false
            return session.state
        case .continued(let session): return hasEnded ? nil : session.state
        case .signedOut:
            guard !hasEnded else { return nil }
            guard signedOutEvents == .signOut else { return .lost }
            hasEnded = true
            return .signedOut
        case .signOutAsked:
            hasEnded = true
            return .signedOut
        }
    }
}

/// What a `signedOut` event of supabase-swift's Auth stands for. It tells the same one when the user signs out and when
/// the server refuses to renew the session.
public enum SignedOutEventMeaning: Sendable, Equatable {
    /// The session was lost: the user's rows stay readable and the queue stays. A sign-out is what
    /// `SupabaseSession.signOut()` asks for.
    case lostSession
    /// The user signed out: cached rows leave the screen and the disk. For an app that calls `auth.signOut()` itself;
    /// a session the server no longer renews reads as a sign-out too.
    case signOut
}
