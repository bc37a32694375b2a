internal import KizunaCore
internal import KizunaPostgREST
internal import KizunaStore

// The decisions about rejected mutations. See docs/spec/writes.md, Rejected mutations.

extension WriteQueue {
    /// Removes a rejection, or a waiting mutation from the queue.
    func discard(_ id: String) async throws {
        let store = try await owners.handle().store
        if try await store.dismissRejected(id) { return }
        guard try await store.discardPending(id) else { throw unknown(id) }
    }

    /// Removes a rejection and marks the cached queries of its table stale.
    func takeTheirs(_ id: String) async throws {
        let store = try await owners.handle().store
        guard case .rejected(let rejected) = try await store.fate(of: id), try await store.dismissRejected(id) else {
            throw unknown(id)
        }
        try await store.markTableStale(rejected.entry.table)
    }

    /// Queues a rejected mutation again, with the patch applied, and those that were parked with it: in one commit, so that
    /// none is sent before the one it needs is in the queue again.
    func requeue(_ id: String, patch: RawJSON?) async throws {
        let stored = try await owners.handle().store.requeueRejected(id) { (rejected, parked) throws(SyncError) in
            let edited = try rejected.edited(by: patch, keyColumns: schemas[rejected.table].keyColumns)
            if patch != nil { try ensureFits(edited) }
            let move = KeyMove(of: rejected, to: edited, keyColumns: schemas[rejected.table].keyColumns)
            return [edited] + parked.compactMap { $0.requeued(after: move, schemas[$0.table]) }
        }
        guard stored != nil else { throw unknown(id) }
    }

    private func unknown(_ id: String) -> SyncError {
        SyncError(.unknownMutation, "No rejected mutation has this id.")
    }
}
