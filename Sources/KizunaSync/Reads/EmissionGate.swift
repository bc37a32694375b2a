package import KizunaCore

/// Holds back the emissions of a `networkFirstThenCache` read until the server has answered or cannot be reached; the
/// other strategies show what the device has at once (docs/spec/reads.md, Matrix of a live read). Pure.
package struct EmissionGate: Sendable {
    package enum Decision: Sendable, Equatable {
        case hold
        case open
        /// The read fails: nothing is cached, or the server itself answered with an error.
        case fail(SyncError)
    }

    package private(set) var isOpen: Bool

    package init(_ strategy: SequenceReadStrategy) {
        isOpen = strategy != .networkFirstThenCache
    }

    package mutating func answered() { isOpen = true }

    /// An attempt failed before anything was shown.
    package mutating func failed(_ failure: SyncError, hasRows: Bool) -> Decision {
        guard !isOpen else { return .open }
        let isConnectivity = failure.code == .connectivity || failure.code == .networkDisabled
        guard isConnectivity, hasRows else { return .fail(failure) }
        isOpen = true
        return .open
    }

    /// The refresh waits for a network that is known to be down.
    package mutating func paused(isDisabled: Bool, hasRows: Bool) -> Decision {
        let failure =
            isDisabled
            ? SyncError(.networkDisabled, "The network is switched off, and nothing is stored for this read.")
            : SyncError(.connectivity, "The network is known to be down, and nothing is stored for this read.")
        return failed(failure, hasRows: hasRows)
    }

    /// The session did not settle in time: what is stored is shown, if anything is. Else nothing is said still, since
    /// waiting for the session is not a failure.
    package mutating func sessionWaited(hasRows: Bool) {
        if hasRows { isOpen = true }
    }
}
