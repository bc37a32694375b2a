package import KizunaCore
package import KizunaStore
internal import Synchronization

/// Where those who wait for a write's verdict are told.
package final class MutationOutcomes: Sendable {
    package enum Outcome: Sendable {
        /// The server's rows, where it sent them.
        case delivered([RawJSON])
        case rejected(SyncError)
        case withdrawn(SyncError)

        package func get() throws(SyncError) -> [RawJSON] {
            switch self {
            case .delivered(let rows): return rows
            case .rejected(let error), .withdrawn(let error): throw error
            }
        }
    }

    private struct State {
        var waiters: [String: [LatestValueChannel<Outcome>]] = [:]
        var end: SyncError?
    }

    private let state = Mutex(State())

    package init() {}

    package func announce(_ outcome: Outcome, for id: String) {
        let waiters = state.withLock { $0.waiters.removeValue(forKey: id) ?? [] }
        for waiter in waiters { waiter.put(outcome) }
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
    package func waiter(for id: String) throws(SyncError) -> LatestValueChannel<Outcome> {
        let channel = LatestValueChannel<Outcome>()
        let end = state.withLock { state in
            if state.end == nil { state.waiters[id, default: []].append(channel) }
            return state.end
        }
        if let end { throw end }
        return channel
    }

    /// Forgets a place where nobody waits any more.
    package func leave(_ channel: LatestValueChannel<Outcome>, for id: String) {
        state.withLock { state in
            guard var waiters = state.waiters[id] else { return }
            waiters.removeAll { $0 === channel }
            state.waiters[id] = waiters.isEmpty ? nil : waiters
        }
    }

    /// How many places to wait there are.
    package var waiterCount: Int { state.withLock { $0.waiters.values.reduce(0) { $0 + $1.count } } }
}

extension MutationOutcomes {
    /// Announces the outcomes of the mutations that left the queue, in this process or in another.
    package func announce(_ change: StoreChange) {
        for ended in change.ended {
            switch ended.fate {
            case .delivered(let rows): announce(.delivered(rows), for: ended.id)
            case .rejected(let failure):
                announce(.rejected(SyncError(rejection: failure, table: ended.table.name)), for: ended.id)
            case .withdrawn: announce(.withdrawn(Self.discarded), for: ended.id)
            case .queuedAgain: break
            }
        }
    }

    private static var discarded: SyncError {
        SyncError(.discarded, "The mutation was taken out of the queue before the server gave an outcome.")
    }
}
