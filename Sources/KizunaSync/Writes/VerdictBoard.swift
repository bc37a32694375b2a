package import KizunaCore
internal import KizunaStore
internal import Synchronization

/// Where those who wait for a write's verdict are told.
package final class VerdictBoard: Sendable {
    package enum Verdict: Sendable {
        /// The server's rows, where it sent them.
        case delivered([RawJSON])
        case refused(SyncError)
        case withdrawn(SyncError)

        package func get() throws(SyncError) -> [RawJSON] {
            switch self {
            case .delivered(let rows): return rows
            case .refused(let error), .withdrawn(let error): throw error
            }
        }
    }

    private struct State {
        var waiters: [String: [LatestMailbox<Verdict>]] = [:]
        var end: SyncError?
    }

    private let state = Mutex(State())

    package init() {}

    package func announce(_ verdict: Verdict, for id: String) {
        let waiters = state.withLock { $0.waiters.removeValue(forKey: id) ?? [] }
        for waiter in waiters { waiter.put(verdict) }
    }

    /// Ends every wait: the client closes, or the owner changes.
    package func end(_ error: SyncError, isFinal: Bool) {
        let waiters = state.withLock { state in
            if isFinal { state.end = error }
            defer { state.waiters = [:] }
            return state.waiters.values.flatMap { $0 }
        }
        for waiter in waiters { waiter.put(.withdrawn(error)) }
    }

    /// A place where the verdict will be put. Ask for it before looking whether the write still waits.
    package func waiter(for id: String) throws(SyncError) -> LatestMailbox<Verdict> {
        let mailbox = LatestMailbox<Verdict>()
        let end = state.withLock { state in
            if state.end == nil { state.waiters[id, default: []].append(mailbox) }
            return state.end
        }
        if let end { throw end }
        return mailbox
    }

    /// Forgets a place where nobody waits any more.
    package func leave(_ mailbox: LatestMailbox<Verdict>, for id: String) {
        state.withLock { state in
            guard var waiters = state.waiters[id] else { return }
            waiters.removeAll { $0 === mailbox }
            state.waiters[id] = waiters.isEmpty ? nil : waiters
        }
    }

    /// How many places to wait there are.
    package var waiterCount: Int { state.withLock { $0.waiters.values.reduce(0) { $0 + $1.count } } }
}

extension VerdictBoard {
    /// Tells what became of the writes that left the queue by another process's hand.
    func announce(_ change: VaultChange) {
        let requeued = Set(change.queued.map(\.id))
        let refused = Dictionary(change.refused.map { ($0.entry.id, $0) }, uniquingKeysWith: { $1 })
        for entry in change.ended where !requeued.contains(entry.id) {
            if let rows = change.delivered[entry.id] {
                announce(.delivered(rows), for: entry.id)
            } else if let refusal = refused[entry.id] {
                announce(.refused(SyncError(refusal: refusal.failure, table: entry.table.name)), for: entry.id)
            } else {
                let error = SyncError(
                    .discarded, "The write was taken out of the queue before the server gave a verdict.")
                announce(.withdrawn(error), for: entry.id)
            }
        }
    }
}
