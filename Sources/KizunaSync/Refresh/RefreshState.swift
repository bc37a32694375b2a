public import KizunaCore

/// How the refresh behind a live read stands.
///
/// See docs/spec/reads.md, Refresh states.
public enum RefreshState: Sendable {
    /// No refresh is running or waiting: the last one succeeded, or the read does not refresh. Show nothing.
    case idle
    /// A refresh is running, is about to be tried again soon after a failure, or waits for a session that is still
    /// settling. Show a quiet progress mark, if anything.
    case refreshing
    /// The refresh waits for the network, which is known to be unavailable. Nothing is failing. Show "Offline".
    case paused
    /// The refresh keeps failing while the network is believed to be up. It is still tried, at most a minute apart.
    /// The cause is the failure that stalled it; a later, different one does not replace it.
    case stalled(_ cause: SyncError)
}

extension RefreshState: Equatable {
    /// Equal when the state is the same and, for stalled ones, the cause.
    public static func == (lhs: RefreshState, rhs: RefreshState) -> Bool {
        switch (lhs, rhs) {
        case (.idle, .idle), (.refreshing, .refreshing), (.paused, .paused): true
        case (.stalled(let one), .stalled(let other)): one == other
        default: false
        }
    }
}
