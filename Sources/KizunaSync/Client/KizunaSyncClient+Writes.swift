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
        WriteReceipt(queue: try engine().writes, mutationID: mutationID)
    }

    /// Queues a refused write again as it is, behind everything that waits: the reason may be gone. The writes that were
    /// parked with it follow.
    ///
    /// - Throws: `SyncError` with code `unknownMutation` when no refused write has this id.
    public func retry(_ mutationID: String) async throws {
        try await engine().writes.requeue(mutationID, patch: nil)
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
        try await engine().writes.requeue(mutationID, patch: RowEncoder.object(values, table: ""))
    }

    /// Gives a refused write up, or takes a waiting one out of the queue. One that is on its way may still be handled by
    /// the server; the lists show what it did.
    ///
    /// It is this write alone that goes: those that were parked with it wait for a decision of their own, and an update that
    /// waits behind a discarded insert is still sent, and reported when it touches no row (`KZ001`).
    ///
    /// - Throws: `SyncError` with code `unknownMutation` when nothing of this id waits or was refused.
    public func discard(_ mutationID: String) async throws {
        try await engine().writes.discard(mutationID)
    }

    /// Gives a refused write up for the server's row: the table's lists are fetched again.
    ///
    /// - Throws: `SyncError` with code `unknownMutation` when no refused write has this id.
    public func takeTheirs(_ mutationID: String) async throws {
        try await engine().writes.takeTheirs(mutationID)
    }
}

extension KizunaSyncClient {
    /// Queues several writes, all or none, to be sent in order. They show together, in one emission.
    ///
    /// ```swift
    /// let receipt = try await client.write { tx in
    ///     let list = try tx.insert(NewList(name: "garden"), into: "lists")
    ///     try tx.insert(NewTask(listID: list[0], title: "water plants"), into: "tasks")
    /// }
    /// ```
    ///
    /// - Throws: What the body throws, or `SyncError`: `queueFull`, `diskFull`, `storage`. Nothing is queued then.
    @discardableResult
    public func write(_ body: @Sendable (WriteTransaction) throws -> Void) async throws -> WriteReceipt {
        try await engine().writes.write(body)
    }
}
