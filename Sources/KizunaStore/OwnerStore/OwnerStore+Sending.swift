package import KizunaCore

// Bookkeeping around each send, in the transactions that decide who sends.

/// What came of noting a send.
package enum SendNote: Sendable, Equatable {
    /// It is noted. The writes as they stand; the request must leave before `until` by the machine's clock.
    case noted([QueuedMutation], until: Duration?)
    /// Another process sends the queue, at least so long. Nothing was noted.
    case heldByOther(Duration)
    /// Another process changed the writes since it was decided to send them. Nothing was noted. As they stand now.
    case changed([QueuedMutation])
}

extension OwnerStore {
    /// Notes, before a request leaves, that these writes may reach the server, and takes or renews the lease.
    ///
    /// `assumed` is what is thought to be known of an earlier send of each; where the file says otherwise, the decision to
    /// send was made on old news.
    @discardableResult
    package func beginSend(_ ids: [String], assuming assumed: [String: Bool]? = nil) throws(SyncError) -> SendNote {
        try commit { (change) throws(SyncError) in
            change.isSilent = true
            let present = try entriesPresent(ids)
            if let assumed, present.count < ids.count || present.contains(where: { assumed[$0.id] != $0.maybeSent }) {
                return .changed(present)
            }
            if case .other(let remaining) = claimLease() { return .heldByOther(remaining) }
            change.isSilent = false
            try updateBookkeeping(ids, &change) {
                $0.maybeSent = true
                $0.attempts += 1
            }
            return .noted(change.updated.sorted { $0.sequence < $1.sequence }, until: lastMoment)
        }
    }

    /// Notes that a send gave no verdict. `maybeSent` says what is now known of the write's fate; that it was not sent is
    /// only believed of the one who has the lease, since another may have sent it meanwhile. One who sends nothing more for
    /// now gives the lease back: another may reach the server.
    package func sendFailed(
        _ ids: [String], maybeSent: [String: Bool], error: String, givingLeaseBack: Bool = false
    ) throws(SyncError) {
        try commit { (change) throws(SyncError) in
            let isHolder = holder == nil || hasLease
            try updateBookkeeping(ids, &change) {
                $0.maybeSent = (maybeSent[$0.id] ?? $0.maybeSent) || ($0.maybeSent && !isHolder)
                $0.lastError = error
            }
            if givingLeaseBack { dropLease() }
        }
    }

    private func updateBookkeeping(
        _ ids: [String], _ change: inout StoreChange, _ edit: (inout QueuedMutation) -> Void
    ) throws(SyncError) {
        for id in ids {
            guard var entry = try queue.entry(id: id) else { continue }
            edit(&entry)
            try queue.setBookkeeping(entry)
            change.updated.append(entry)
        }
        if !change.updated.isEmpty { _ = nextVersion() }
    }

    /// The waiting writes of these ids, in queue order; those that left are missing.
    package func entries(_ ids: [String]) throws(SyncError) -> [QueuedMutation] {
        try reading { () throws(SyncError) in try entriesPresent(ids) }
    }

    private func entriesPresent(_ ids: [String]) throws(SyncError) -> [QueuedMutation] {
        var found: [QueuedMutation] = []
        for id in ids {
            if let entry = try queue.entry(id: id) { found.append(entry) }
        }
        return found.sorted { $0.sequence < $1.sequence }
    }
}
