/// How the refresh of the session before a run went.
///
/// See docs/spec/scheduling.md, Session refresh.
public enum SessionRefresh: Sendable {
    /// There is a session whose token has been handed over: run.
    case ready
    /// Nobody is signed in: no run until `notifySession()` or another wake.
    case signedOut
    /// The session could not be refreshed at the moment, for example offline: a failed run, tried again with backoff.
    case failed(any Error)
}
