package import KizunaCore
internal import KizunaPostgREST
package import KizunaStore

/// What an app can do about a refused write. Each takes the write's id, as `rejectedMutations` gives it.
///
/// Source: design §5; spec reads §8.6.
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

    /// Queues a refused write again with some columns changed. For a delete there is nothing to change.
    ///
    /// - Throws: `SyncError`: `unknownMutation`; `notQueueable` for a delete or values that are no JSON object.
    public func edit(_ mutationID: String, _ values: some Encodable & Sendable) async throws {
        try await requeue(mutationID, patch: RowEncoder.object(values, table: ""))
    }

    /// Gives a refused write up, or takes a waiting one out of the queue. One that is on its way may still be handled by
    /// the server; the table's lists are fetched again, so that they show what it did.
    ///
    /// - Throws: `SyncError` with code `unknownMutation` when nothing of this id waits or was refused.
    public func discard(_ mutationID: String) async throws {
        let vault = try await engine().handle().vault
        if try await vault.dismissRefused(mutationID) { return }
        guard try await vault.discardPending(mutationID) else { throw unknown(mutationID) }
    }

    /// Gives a refused write up for the server's row: the table's lists are fetched again.
    ///
    /// - Throws: `SyncError` with code `unknownMutation` when no refused write has this id.
    public func takeTheirs(_ mutationID: String) async throws {
        let vault = try await engine().handle().vault
        guard case .refused(let refused) = try await vault.fate(of: mutationID),
            try await vault.dismissRefused(mutationID)
        else { throw unknown(mutationID) }
        try await vault.markTableStale(refused.entry.table)
    }

    private func requeue(_ id: String, patch: RawJSON?) async throws {
        let engine = try engine()
        let stored = try await engine.handle().vault.requeueRefused(id) { (entry) throws(SyncError) in
            try entry.edited(by: patch, keyColumns: engine.tables(entry.table).keyColumns)
        }
        guard stored != nil else { throw unknown(id) }
        // What was parked with it has its ground again.
        for parked in try await engine.handle().vault.refusedEntries() where parked.dependsOn == id {
            try await requeue(parked.entry.id, patch: nil)
        }
    }

    private func unknown(_ id: String) -> SyncError {
        SyncError(.unknownMutation, "No write of this id waits for a decision.")
    }
}

extension QueueEntry {
    /// The entry as it is queued again: never sent, with the columns of a patch laid over its own.
    package func edited(by patch: RawJSON?, keyColumns: [String]) throws(SyncError) -> QueueEntry {
        var operation = operation
        var keys = rowKeys
        var isMinted = isKeyMinted
        if let patch {
            let changes = (try? patch.objectMembers()) ?? []
            switch operation {
            case .insert(let row):
                operation = .insert(row: row.merging(changes))
                keys = row.merging(changes).rowKey(columns: keyColumns).map { [$0] } ?? []
            case .upsert(let row, let onConflict, let ignores):
                operation = .upsert(row: row.merging(changes), onConflict: onConflict, ignoresDuplicates: ignores)
                keys = row.merging(changes).rowKey(columns: keyColumns).map { [$0] } ?? []
            case .update(let old, let filters): operation = .update(patch: old.merging(changes), filters: filters)
            case .delete:
                throw SyncError(.notQueueable, "A delete has no columns to change.", table: table.name)
            }
            isMinted = isMinted && keys == rowKeys
        }
        return QueueEntry(
            id: id, table: table, operation: operation, rowKeys: keys, isKeyMinted: isMinted, group: nil,
            createdAt: createdAt)
    }
}
