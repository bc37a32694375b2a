internal import Foundation
public import KizunaCore
package import KizunaStore

/// The proof that a write is durable on the device, and the way to wait for the server's verdict.
public struct WriteReceipt: Sendable {
    /// The ids of the queued writes: one for an update or delete, one per row for an insert or upsert.
    public let mutationIDs: [String]
    /// The primary keys of the rows written, as far as the write names them; minted ones included.
    public let rowIDs: [String]
    private let table: String
    private let queue: WriteQueue

    /// A receipt for a write that was queued earlier, perhaps before a restart.
    package init(queue: WriteQueue, mutationID: String) {
        self.queue = queue
        mutationIDs = [mutationID]
        rowIDs = []
        table = ""
    }

    package init(queue: WriteQueue, entries: [QueuedMutation]) {
        self.queue = queue
        mutationIDs = entries.map(\.id)
        rowIDs = entries.flatMap(\.rowKeys).map(\.text)
        table = entries.first?.table.name ?? ""
    }

    /// Waits until the server has accepted the write, and gives the rows it sent back.
    ///
    /// Offline it waits until the network is there; cancelling the wait does not take the write back.
    ///
    /// - Throws: `SyncError`: `rejected` with the server's reason when the server refuses it, `discarded` when it left the
    ///   queue by the app's hand or another user signed in, `closed` when the client closes first.
    @discardableResult
    public func delivered() async throws -> DeliveredRows {
        DeliveredRows(rows: try await queue.outcomes(of: mutationIDs, table: table))
    }
}

/// Rows as the server sent them back after a write; empty where it may not be asked for them.
public struct DeliveredRows: Sendable {
    /// The rows' JSON, byte for byte.
    public let rows: [RawJSON]

    /// The rows decoded.
    ///
    /// - Throws: `SyncError` with code `decoding`.
    public func decode<Row: Decodable>(as type: Row.Type) throws -> [Row] {
        let decoder = RowDecoder()
        return try rows.map { try decoder.decode(type, from: $0, table: nil) }
    }
}

extension SyncError {
    /// A refusal as an error.
    package init(rejection failure: ServerFailure, table: String) {
        self.init(
            .rejected, "The server refused the write; it waits in rejectedMutations for a decision.", table: table,
            server: failure)
    }
}
