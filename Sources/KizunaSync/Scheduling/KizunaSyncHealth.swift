public import Foundation

/// How the sync loop of one client stands, at one moment; its fields are true together.
///
/// Times are the device's wall clock, for display. Every text is safe to show and to log: it holds no token, no URL
/// query and no row value of this package's errors.
///
/// See docs/spec/scheduling.md, Health.
public struct KizunaSyncHealth: Sendable, Equatable {
    /// What the loop is doing.
    public enum Phase: String, Sendable, CaseIterable {
        /// Nothing runs and nothing is wrong.
        case idle
        /// A run is under way.
        case syncing
        /// The last run failed; the next one waits longer.
        case backoff
        /// A run is under way for too long.
        case stalled
        /// The network path is not satisfied, or not known yet; nothing runs until it is. Goes before all others.
        case offline
        /// The last run was skipped because there was no session to run with.
        case waitingForSession
    }

    /// What went wrong in the last failed run.
    public struct Failure: Sendable, Equatable {
        /// The stable code of the package's own errors, such as `connectivity`; nil for an error of the app's.
        public let code: String?
        /// What happened, in words for a developer, with whatever looks like a token or a URL's query taken out.
        public let message: String
        /// When it was noticed.
        public let at: Date
    }

    /// What the loop is doing.
    public let phase: Phase
    /// Failures in a row since the last success or the last wake other than a poll; they decide how long polls wait.
    public let consecutiveFailures: Int
    /// When the timer fires next; nil while no timer is set.
    public let nextAttemptAt: Date?
    /// When the run under way began; nil while none is.
    public let attemptStartedAt: Date?
    /// When a run last succeeded since this scheduler was made.
    public let lastSuccessAt: Date?
    /// What the last run failed with; nil after a success, and after a wake other than a poll until that run fails.
    public let lastError: Failure?
    /// Whether the client asks for a reset, as the `needsReset` closure last answered.
    public let needsReset: Bool
    /// Whether the last refresh of the session found none.
    public let needsSession: Bool
    /// Writes that wait for the server, as the client last told; 0 until it has.
    public let queueDepth: Int
}
