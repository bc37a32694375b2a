internal import KizunaStore

/// How the client stands as a whole, for a status line.
///
/// See docs/spec/scheduling.md, Network status.
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
    public internal(set) var pendingMutationCount = 0
    /// How many refused writes wait for a decision.
    public internal(set) var rejectedMutationCount = 0
    /// Whether a token of the store's user is missing, so that nothing is sent. True while the session is restoring, too.
    public internal(set) var needsSession = true
    /// Set when the store was found damaged as it was opened: where it was moved aside, and what was saved.
    public internal(set) var damage: KizunaStoreDamage?
}

/// What became of a store that was found damaged. Cached rows are fetched again; unsent and refused writes were read out of it
/// as far as that was possible, and are in the new store.
public struct KizunaStoreDamage: Sendable, Hashable {
    /// Where the damaged file is kept.
    public let path: String
    /// How many waiting writes were saved; they are sent as before.
    public let savedWrites: Int
    /// How many refused writes were saved; they wait for a decision as before.
    public let savedRejections: Int
    /// Whether there may have been more, which could not be read: tell the user, or look at the file.
    public let mayHaveLostWrites: Bool

    init(_ damage: StoreDamage) {
        path = damage.path
        savedWrites = damage.savedWrites
        savedRejections = damage.savedRejections
        mayHaveLostWrites = !damage.isWhole
    }
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
