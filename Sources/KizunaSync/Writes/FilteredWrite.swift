internal import KizunaCore
public import KizunaPostgREST
internal import KizunaStore

/// An update or delete of the rows that match its filters. A value: nothing is written before `execute()`.
public struct FilteredWrite: OfflinePostgrestFilterBuilder {
    /// Returns the queue of the client; called when the write is executed.
    package typealias Queue = @Sendable () throws(SyncError) -> WriteQueue

    private let queue: Queue
    /// The request; its filters select the rows.
    public var request: TableRequest
    let patch: Result<RawJSON?, any Error>
    private var allowsEveryRow = false

    /// An update of the rows that match the filters added to it.
    package init(updating table: String, schema: String, _ values: some Encodable & Sendable, queue: @escaping Queue) {
        self.queue = queue
        request = TableRequest(schema: schema, table: table)
        patch = Result { try RowEncoder.object(values, table: table) }
    }

    /// A delete of the rows that match the filters added to it.
    package init(deletingFrom table: String, schema: String, queue: @escaping Queue) {
        self.queue = queue
        request = TableRequest(schema: schema, table: table)
        patch = .success(nil)
    }

    /// Allows the write to change every row of the table. Without this call and without a filter, `execute()` throws
    /// `unfilteredWrite`.
    public func everyRow() -> Self {
        var copy = self
        copy.allowsEveryRow = true
        return copy
    }

    /// Queues the write. When the call returns, the write is durable, each live read of its rows shows it, and the queue
    /// sends it when the network is up.
    ///
    /// - Throws: `SyncError`: `unfilteredWrite`, `notQueueable` (a limit, a referenced table, or values that are no JSON
    ///   object), `queueFull`, `diskFull`, `storage`. Nothing is queued then.
    @discardableResult
    public func execute() async throws -> WriteReceipt {
        let checked = try checked()
        return try await queue().enqueue(checked.operation, on: checked.table, filters: request.filters)
    }

    /// Returns the operation to queue.
    ///
    /// - Throws: `SyncError`: `unfilteredWrite`, `notQueueable`.
    func checked() throws -> (operation: QueuedMutation.Operation, table: TableID) {
        let filters = request.filters
        guard allowsEveryRow || !filters.isEmpty else {
            throw SyncError(
                .unfilteredWrite,
                "An update or delete without a filter changes every row. Add a filter, or call everyRow().",
                table: request.table)
        }
        guard request.isFilterOnly else {
            throw SyncError(
                .notQueueable,
                "A queued update or delete can have filters only: no limit, order, count or other shape.",
                table: request.table)
        }
        let conditions = filters.stored
        let table = TableID(schema: request.schema, name: request.table)
        guard let patch = try patch.get() else { return (.delete(filters: conditions), table) }
        return (.update(patch: patch, filters: conditions), table)
    }
}

extension TableRequest {
    /// Whether the request has only columns and filters. The server does not read a parameter with a reserved name, such as
    /// `limit`, as a filter on a column of that name, so the write would change more rows.
    var isFilterOnly: Bool {
        shape == .rows && !isHead && count == nil && preferences.isEmpty
            && items.enumerated().allSatisfy { $0.offset == 0 || $0.element.isFilter }
    }
}
