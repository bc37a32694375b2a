internal import KizunaCore
internal import KizunaStore
internal import Synchronization

/// Collects the writes of one `KizunaSyncClient.write(_:)` call. They are queued all or none and sent in order.
///
/// - Note: The server does not handle them in one transaction. When it rejects one of them, the later ones are parked with
///   it, and the earlier ones stay accepted.
public final class WriteTransaction: Sendable {
    private let queue: WriteQueue
    private let group: String
    private let mutations = Mutex<[QueuedMutation]>([])

    init(queue: WriteQueue) {
        self.queue = queue
        group = queue.generatedID()
    }

    /// Adds a row or rows to a table. Returns the primary keys, with the client-generated keys.
    ///
    /// - Throws: `SyncError` with code `notQueueable`. Nothing of the transaction is queued then.
    @discardableResult
    public func insert(
        _ row: some Encodable & Sendable, into table: String, schema: String = "public"
    ) throws -> [String] {
        try add(row, to: TableID(schema: schema, name: table), upsert: nil)
    }

    /// Adds a row, or changes the row that has its key. Returns the primary keys.
    ///
    /// - Throws: `SyncError` with code `notQueueable`. Nothing of the transaction is queued then.
    @discardableResult
    public func upsert(
        _ row: some Encodable & Sendable, into table: String, schema: String = "public", onConflict: String? = nil,
        ignoreDuplicates: Bool = false
    ) throws -> [String] {
        try add(
            row, to: TableID(schema: schema, name: table),
            upsert: UpsertRule(onConflict: onConflict, ignoresDuplicates: ignoreDuplicates))
    }

    /// Changes the rows that match the filters.
    ///
    /// `try tx.update("tasks", ["done": true]) { $0.eq("id", value: id) }`
    ///
    /// - Throws: `SyncError`: `unfilteredWrite`, `notQueueable`. Nothing of the transaction is queued then.
    public func update(
        _ table: String, schema: String = "public", _ values: some Encodable & Sendable,
        where filter: (FilteredWrite) -> FilteredWrite
    ) throws {
        try add(filter(FilteredWrite(updating: table, schema: schema, values) { [queue] in queue }))
    }

    /// Removes the rows that match the filters.
    ///
    /// - Throws: `SyncError`: `unfilteredWrite`, `notQueueable`. Nothing of the transaction is queued then.
    public func delete(
        _ table: String, schema: String = "public", where filter: (FilteredWrite) -> FilteredWrite
    ) throws {
        try add(filter(FilteredWrite(deletingFrom: table, schema: schema) { [queue] in queue }))
    }

    private func add(_ row: some Encodable & Sendable, to table: TableID, upsert: UpsertRule?) throws -> [String] {
        let added = try queue.mutations(
            inserting: RowEncoder.rows(row, table: table.name), into: table, upsert: upsert, group: group)
        mutations.withLock { $0 += added }
        return added.flatMap(\.rowKeys).map(\.text)
    }

    private func add(_ write: FilteredWrite) throws {
        let checked = try write.checked()
        let added = try queue.mutation(
            checked.operation, on: checked.table, filters: write.request.filters, group: group)
        mutations.withLock { $0.append(added) }
    }

    var collected: [QueuedMutation] { mutations.withLock { $0 } }
}

extension WriteQueue {
    /// Queues the writes of a closure, all or none, to be sent in order.
    func write(_ body: (WriteTransaction) throws -> Void) async throws -> WriteReceipt {
        let transaction = WriteTransaction(queue: self)
        try body(transaction)
        return try await enqueue(transaction.collected)
    }
}
