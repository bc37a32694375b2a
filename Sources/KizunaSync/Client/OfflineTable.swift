internal import KizunaCore
internal import KizunaPostgREST
internal import KizunaStore

/// A table or view to read from and write to. A value: making one does nothing.
public struct OfflineTable: Sendable {
    package let client: KizunaSyncClient
    package let schema: String
    package let table: String

    var id: TableID { TableID(schema: schema, name: table) }

    // MARK: - Reading

    /// A live read: the rows that match, with the user's queued writes laid over them, and again whenever a write, a
    /// refresh or a server record changes them.
    ///
    /// `from("tasks").selectAsSequence(as: [TaskRow].self).eq("done", value: false)` ⟶
    /// `GET /rest/v1/tasks?select=*&done=eq.false`. It starts when it is iterated and can be iterated again.
    ///
    /// `columns` are the columns to answer with, as PostgREST's `select` takes them; `type` is what the rows decode as,
    /// `[TaskRow].self`; `readStrategy` says where the rows come from.
    public func selectAsSequence<Value: Decodable & Sendable>(
        _ columns: String = "*", as type: Value.Type, readStrategy: SequenceReadStrategy = .cacheFirstThenNetwork
    ) -> QuerySnapshotSequence<Value> {
        QuerySnapshotSequence(
            request: TableRequest(schema: schema, table: table, columns: columns), readStrategy: readStrategy
        ) { [client] () throws(SyncError) in try client.engine().reads }
    }

    /// A one-shot read; add filters, then call `execute()`.
    ///
    /// `try await from("tasks").select(as: [TaskRow].self).eq("done", value: false).execute()`
    public func select<Value: Decodable & Sendable>(
        _ columns: String = "*", as type: Value.Type, readStrategy: ReadStrategy = .networkFirst
    ) -> OneShotRead<Value> {
        OneShotRead(
            request: TableRequest(schema: schema, table: table, columns: columns), readStrategy: readStrategy
        ) { [client] () throws(SyncError) in try client.engine().reads }
    }

    // MARK: - Writing

    /// Adds a row. Durable when this returns: it shows at once in every live read it belongs to, and reaches the server
    /// exactly once, when the network is there. A row without a primary key gets a UUIDv7.
    ///
    /// ⟶ `POST /rest/v1/tasks`. Several waiting inserts may travel in one request.
    ///
    /// - Throws: `SyncError`: `notQueueable` when the value is no JSON object or too large, `queueFull`, `diskFull`,
    ///   `storage`; nothing is queued then.
    @discardableResult
    public func insert(_ row: some Encodable & Sendable) async throws -> WriteReceipt {
        try await client.engine().writes.enqueue(inserting: RowEncoder.rows(row, table: table), into: id)
    }

    /// Adds rows, or changes those that have the same key already. With `ignoreDuplicates` those are left as they are.
    ///
    /// ⟶ `POST /rest/v1/tasks` with `Prefer: resolution=merge-duplicates`.
    @discardableResult
    public func upsert(
        _ row: some Encodable & Sendable, onConflict: String? = nil, ignoreDuplicates: Bool = false
    ) async throws -> WriteReceipt {
        try await client.engine().writes.enqueue(
            inserting: RowEncoder.rows(row, table: table), into: id,
            upsert: UpsertRule(onConflict: onConflict, ignoresDuplicates: ignoreDuplicates))
    }

    /// Changes the rows that match the filters added to it; call `execute()` at the end.
    ///
    /// `try await from("tasks").update(["done": true]).eq("id", value: id).execute()` ⟶
    /// `PATCH /rest/v1/tasks?id=eq.…`
    public func update(_ values: some Encodable & Sendable) -> FilteredWrite {
        FilteredWrite(updating: table, schema: schema, values) { [client] () throws(SyncError) in
            try client.engine().writes
        }
    }

    /// Removes the rows that match the filters added to it; call `execute()` at the end.
    ///
    /// `try await from("tasks").delete().eq("id", value: id).execute()` ⟶ `DELETE /rest/v1/tasks?id=eq.…`
    public func delete() -> FilteredWrite {
        FilteredWrite(deletingFrom: table, schema: schema) { [client] () throws(SyncError) in
            try client.engine().writes
        }
    }
}
