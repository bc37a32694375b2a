/// How the client stands as a whole, for a status line.
///
/// Source: spec reads §13.
public struct KizunaSyncStatus: Sendable, Equatable {
    /// What is known of the network.
    public enum Network: Sendable, Hashable {
        /// Believed to be up.
        case online
        /// Known to be down.
        case offline
        /// Switched off with `disableNetwork()`: nothing is sent.
        case disabled
    }

    /// What the queue is doing.
    public enum Queue: Sendable, Hashable {
        /// Nothing waits.
        case idle
        /// Writes are on their way.
        case draining
        /// Writes wait for the network.
        case waitingForNetwork
        /// Writes wait for a token of the store's user.
        case waitingForSession
        /// A send failed; the next attempt is booked.
        case retrying
    }

    /// What is known of the network.
    public internal(set) var network: Network = .online
    /// What the queue is doing.
    public internal(set) var queue: Queue = .idle
    /// How many writes wait for their verdict.
    public internal(set) var pendingCount = 0
    /// How many refused writes wait for a decision.
    public internal(set) var rejectedCount = 0
    /// Whether a token of the store's user is missing, so that nothing is sent. True while the session is restoring, too.
    public internal(set) var needsSession = true
    /// Where a damaged store was moved aside when it was opened; a new one was started.
    public internal(set) var damagedStore: String?
}

extension KizunaSyncStatus.Queue {
    init(_ state: QueueMachine.QueueState) {
        switch state {
        case .idle: self = .idle
        case .draining: self = .draining
        case .waitingForNetwork: self = .waitingForNetwork
        case .waitingForSession: self = .waitingForSession
        case .retrying: self = .retrying
        }
    }
}
