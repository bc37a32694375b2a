internal import KizunaCore
internal import KizunaPostgREST
internal import KizunaStore

/// What an app can do about a refused write. Each takes the write's id, as `rejectedMutations` gives it.
///
/// See docs/spec/writes.md, Rejected mutations.
extension KizunaSyncClient {
    /// The receipt of a write that was queued earlier, perhaps before a restart.
    ///
    /// `delivered()` of it waits, gives the rows or throws the refusal; `unknownMutation` when nothing is known of the id.
    public func receipt(mutationID: String) throws -> WriteReceipt {
        WriteReceipt(engine: try engine(), mutationID: mutationID)
    }

    /// Queues a refused write again as it is, behind everything that waits: the reason may be gone. The writes that were
    /// parked with it follow.
    ///
    /// - Throws: `SyncError` with code `unknownMutation` when no refused write has this id.
    public func retry(_ mutationID: String) async throws {
        try await requeue(mutationID, patch: nil)
    }

    /// Queues a refused write again with some columns changed, and the writes that were parked with it. For a delete there is
    /// nothing to change.
    ///
    /// Where the edit gives the row another primary key, updates and deletes that name the row by `eq` follow it, and so do
    /// the columns of declared foreign keys. Other parked writes that name the row stay refused: under the former key they
    /// would reach somebody else's row.
    ///
    /// - Throws: `SyncError`: `unknownMutation`; `notQueueable` for a delete, a limit, or values that are no JSON object.
    public func edit(_ mutationID: String, _ values: some Encodable & Sendable) async throws {
        try await requeue(mutationID, patch: RowEncoder.object(values, table: ""))
    }

    /// Gives a refused write up, or takes a waiting one out of the queue. One that is on its way may still be handled by
    /// the server; the lists show what it did.
    ///
    /// It is this write alone that goes: those that were parked with it wait for a decision of their own, and an update that
    /// waits behind a discarded insert is still sent, and reported when it touches no row (`KZ001`).
    ///
    /// - Throws: `SyncError` with code `unknownMutation` when nothing of this id waits or was refused.
    public func discard(_ mutationID: String) async throws {
        let store = try await engine().handle().store
        if try await store.dismissRejected(mutationID) { return }
        guard try await store.discardPending(mutationID) else { throw unknown(mutationID) }
    }

    /// Gives a refused write up for the server's row: the table's lists are fetched again.
    ///
    /// - Throws: `SyncError` with code `unknownMutation` when no refused write has this id.
    public func takeTheirs(_ mutationID: String) async throws {
        let store = try await engine().handle().store
        guard case .rejected(let rejected) = try await store.fate(of: mutationID),
            try await store.dismissRejected(mutationID)
        else { throw unknown(mutationID) }
        try await store.markTableStale(rejected.entry.table)
    }

    /// One commit for all of them: none is sent before the one it needs is in the queue again.
    private func requeue(_ id: String, patch: RawJSON?) async throws {
        let engine = try engine()
        let stored = try await engine.handle().store.requeueRejected(id) { (rejected, parked) throws(SyncError) in
            let edited = try rejected.edited(by: patch, keyColumns: engine.tables(rejected.table).keyColumns)
            if patch != nil { try engine.ensureFits(edited) }
            let move = KeyMove(of: rejected, to: edited, keyColumns: engine.tables(rejected.table).keyColumns)
            return [edited] + parked.compactMap { $0.requeued(after: move, engine.tables($0.table)) }
        }
        guard stored != nil else { throw unknown(id) }
    }

    private func unknown(_ id: String) -> SyncError {
        SyncError(.unknownMutation, "No write of this id waits for a decision.")
    }
}
