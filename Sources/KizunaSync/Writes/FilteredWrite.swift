internal import KizunaCore
public import KizunaPostgREST
internal import KizunaStore

/// An update or delete of the rows that match its filters. A value: nothing is written before `execute()`.
public struct FilteredWrite: OfflinePostgrestFilterBuilder {
    /// The queue of the client, asked for when the write is executed.
    package typealias Queue = @Sendable () throws(SyncError) -> WriteQueue

    private let queue: Queue
    /// The request whose filters say which rows.
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

    /// Lets the write touch every row of the table; without a filter or this, `execute()` throws `unfilteredWrite`.
    public func everyRow() -> Self {
        var copy = self
        copy.allowsEveryRow = true
        return copy
    }

    /// Queues the write. Durable when this returns: it shows at once in every live read it belongs to, and reaches the
    /// server when the network is there.
    ///
    /// - Throws: `SyncError`: `unfilteredWrite`, `notQueueable` (a limit, a referenced table, or values that are no JSON
    ///   object), `queueFull`, `diskFull`, `storage`; nothing is queued then.
    @discardableResult
    public func execute() async throws -> WriteReceipt {
        let checked = try checked()
        return try await queue().enqueue(checked.operation, on: checked.table, filters: request.filters)
    }

    /// What is to be queued, or why it cannot be.
    func checked() throws -> (operation: QueuedMutation.Operation, table: TableID) {
        let filters = request.filters
        guard allowsEveryRow || !filters.isEmpty else {
            throw SyncError(
                .unfilteredWrite,
                "An update or delete without a filter would touch every row; add a filter, or say everyRow().",
                table: request.table)
        }
        guard request.isFilterOnly else {
            throw SyncError(
                .notQueueable, "A queued update or delete takes filters alone: no limit, order, count or other shape.",
                table: request.table)
        }
        let conditions = filters.stored
        let table = TableID(schema: request.schema, name: request.table)
        guard let patch = try patch.get() else { return (.delete(filters: conditions), table) }
        return (.update(patch: patch, filters: conditions), table)
    }
}

extension TableRequest {
    /// Whether nothing but columns and filters was asked for. A filter on a column of a reserved name, such as `limit`, is
    /// none to the server: the write would touch more rows than it says.
    var isFilterOnly: Bool {
        shape == .rows && !isHead && count == nil && preferences.isEmpty
            && items.enumerated().allSatisfy { $0.offset == 0 || $0.element.isFilter }
    }
}
