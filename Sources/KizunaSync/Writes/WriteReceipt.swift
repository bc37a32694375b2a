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
    private let engine: Engine

    /// A receipt for a write that was queued earlier, perhaps before a restart.
    package init(engine: Engine, mutationID: String) {
        self.engine = engine
        mutationIDs = [mutationID]
        rowIDs = []
        table = ""
    }

    package init(engine: Engine, entries: [QueueEntry]) {
        self.engine = engine
        mutationIDs = entries.map(\.id)
        rowIDs = entries.flatMap(\.rowKeys).map(\.text)
        table = entries.first?.table.name ?? ""
    }

    /// Waits until the server has accepted the write, and gives the rows it sent back.
    ///
    /// Offline it waits until the network is there; cancelling the wait does not take the write back.
    ///
    /// - Throws: `SyncError`: `refused` with the server's reason when the server refuses it, `discarded` when it left the
    ///   queue by the app's hand or another user signed in, `closed` when the client closes first.
    @discardableResult
    public func delivered() async throws -> DeliveredRows {
        var rows: [RawJSON] = []
        for id in mutationIDs { rows += try await engine.verdict(of: id, table: table) }
        return DeliveredRows(rows: rows)
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

extension Engine {
    /// Waits for a write's verdict, whenever it was queued.
    package func verdict(of id: String, table: String) async throws -> [RawJSON] {
        let handle = try await handle()
        let id = try await handle.vault.verdictID(of: id)
        let mailbox = try board.waiter(for: id)
        // The place to wait is there, so a verdict from now on is not missed; one from before is in the store.
        switch try await fate(of: id, in: handle) {
        case .pending:
            // A change of owner from now on ends the wait; one from before has passed it by.
            if openHandle?.generation != handle.generation { mailbox.put(.withdrawn(Self.leftBehind)) }
        case .delivered(let rows): mailbox.put(.delivered(rows))
        case .refused(let refused): throw SyncError(refusal: refused.failure, table: table)
        case .unknown:
            mailbox.put(
                .withdrawn(
                    SyncError(
                        .unknownMutation, "No write of this id waits here, and no verdict on it is kept.", table: table)
                ))
        }
        guard let verdict = try await mailbox.next() else {
            throw SyncError(.closed, "The client was closed before the server gave a verdict.", table: table)
        }
        return try verdict.get()
    }

    private func fate(of id: String, in handle: VaultHandle) async throws -> WriteFate {
        do {
            return try await handle.vault.fate(of: id)
        } catch {
            let isLeftBehind = error.code == .closed && !isClosed
            throw isLeftBehind ? Self.leftBehind : error
        }
    }

    /// The end of a wait for a write of a former owner.
    package static var leftBehind: SyncError {
        SyncError(.discarded, "The owner changed; what waits is in the former user's store.")
    }
}

extension SyncError {
    /// A refusal as an error.
    package init(refusal failure: ServerFailure, table: String) {
        self.init(
            .refused, "The server refused the write; it waits in rejectedMutations for a decision.", table: table,
            server: failure)
    }
}
