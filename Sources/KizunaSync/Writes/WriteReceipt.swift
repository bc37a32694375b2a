internal import KizunaCore
package import KizunaStore

/// A write that is durable on the device. `delivered()` waits for its outcome.
public struct WriteReceipt: Sendable {
    /// The ids of the queued mutations: one for an update or delete, one per row for an insert or upsert.
    public let mutationIDs: [String]
    /// The primary keys that the write names, with the client-generated keys.
    public let rowIDs: [String]
    private let table: String
    private let queue: WriteQueue

    /// Makes a receipt for a mutation that was queued earlier, also before a restart.
    package init(queue: WriteQueue, mutationID: String) {
        self.queue = queue
        mutationIDs = [mutationID]
        rowIDs = []
        table = ""
    }

    package init(queue: WriteQueue, mutations: [QueuedMutation]) {
        self.queue = queue
        mutationIDs = mutations.map(\.id)
        rowIDs = mutations.flatMap(\.rowKeys).map(\.text)
        table = mutations.first?.table.name ?? ""
    }

    /// Waits until the server has accepted the write. Returns the rows of the server's responses.
    ///
    /// The wait also lasts while the device is offline. The write stays in the queue when the waiting task is cancelled.
    ///
    /// - Throws: `SyncError`: `rejected` with the server's reason; `discarded` when the app discarded a mutation or the owner
    ///   changed; `closed` when the client was closed first.
    @discardableResult
    public func delivered() async throws -> DeliveredRows {
        DeliveredRows(rows: try await queue.outcomes(of: mutationIDs, table: table))
    }
}
