internal import KizunaCore
internal import KizunaStore
internal import Synchronization

/// Collects the writes of one `KizunaSyncClient.write(_:)`: they are queued all or none and sent in order.
///
/// The server takes them one after another, not in one transaction of its own: when it refuses one, those after it are
/// parked with it, and those before it stay.
public final class WriteTransaction: Sendable {
    private let engine: Engine
    private let client: KizunaSyncClient
    private let group: String
    private let entries = Mutex<[QueuedMutation]>([])

    init(engine: Engine, client: KizunaSyncClient) {
        self.engine = engine
        self.client = client
        group = engine.generatedID()
    }

    /// Adds a row, or rows, to a table. Returns the primary keys, minted ones included.
    ///
    /// - Throws: `SyncError` with code `notQueueable`; nothing of the whole transaction is queued then.
    @discardableResult
    public func insert(
        _ row: some Encodable & Sendable, into table: String, schema: String = "public"
    ) throws -> [String] {
        try add(row, to: TableID(schema: schema, name: table), upsert: nil)
    }

    /// Adds a row, or changes the one that has its key. Returns the primary keys.
    ///
    /// - Throws: `SyncError` with code `notQueueable`; nothing of the whole transaction is queued then.
    @discardableResult
    public func upsert(
        _ row: some Encodable & Sendable, into table: String, schema: String = "public", onConflict: String? = nil,
        ignoreDuplicates: Bool = false
    ) throws -> [String] {
        try add(
            row, to: TableID(schema: schema, name: table),
            upsert: UpsertRule(onConflict: onConflict, ignoresDuplicates: ignoreDuplicates))
    }

    /// Changes the rows that match.
    ///
    /// `try tx.update("tasks", ["done": true]) { $0.eq("id", value: id) }`
    ///
    /// - Throws: `SyncError`: `unfilteredWrite`, `notQueueable`; nothing of the whole transaction is queued then.
    public func update(
        _ table: String, schema: String = "public", _ values: some Encodable & Sendable,
        where filter: (FilteredWrite) -> FilteredWrite
    ) throws {
        try add(filter(client.from(table, schema: schema).update(values)))
    }

    /// Removes the rows that match.
    ///
    /// - Throws: `SyncError`: `unfilteredWrite`, `notQueueable`; nothing of the whole transaction is queued then.
    public func delete(
        _ table: String, schema: String = "public", where filter: (FilteredWrite) -> FilteredWrite
    ) throws {
        try add(filter(client.from(table, schema: schema).delete()))
    }

    private func add(_ row: some Encodable & Sendable, to table: TableID, upsert: UpsertRule?) throws -> [String] {
        let made = try engine.entries(
            inserting: RowEncoder.rows(row, table: table.name), into: table, upsert: upsert, group: group)
        entries.withLock { $0 += made }
        return made.flatMap(\.rowKeys).map(\.text)
    }

    private func add(_ write: FilteredWrite) throws {
        let checked = try write.checked()
        let made = try engine.entry(
            checked.operation, on: checked.table, filters: write.request.filters, group: group)
        entries.withLock { $0.append(made) }
    }

    var collected: [QueuedMutation] { entries.withLock { $0 } }
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
        let engine = try engine()
        let transaction = WriteTransaction(engine: engine, client: self)
        try body(transaction)
        return try await engine.enqueue(transaction.collected)
    }
}
