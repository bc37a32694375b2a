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

    package init(engine: Engine, entries: [QueuedMutation]) {
        self.engine = engine
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
        DeliveredRows(rows: try await engine.outcomes(of: mutationIDs, table: table))
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
    /// Waits for the verdicts on writes, whenever they were queued, and gives the rows of all of them.
    package func outcomes(of ids: [String], table: String) async throws -> [RawJSON] {
        let handle = try await handle()
        var places: [(id: String, channel: LatestValueChannel<MutationOutcomes.Outcome>)] = []
        defer { for place in places { outcomes.leave(place.channel, for: place.id) } }
        // A place for each before the first is waited for: of many writes the last may have its verdict long before, and the
        // store does not keep all of them.
        for id in try await handle.store.outcomeIDs(of: ids) { places.append((id, try outcomes.waiter(for: id))) }
        for (place, fate) in zip(places, try await fates(of: places.map(\.id), in: handle)) {
            if let outcome = outcome(fate, in: handle, table: table) { place.channel.put(outcome) }
        }
        var rows: [RawJSON] = []
        for place in places {
            guard let outcome = try await place.channel.next() else {
                throw SyncError(.closed, "The client was closed before the server gave a verdict.", table: table)
            }
            rows += try outcome.get()
        }
        return rows
    }

    /// The verdict that is in the store; nil while the write waits. Ask when the place to wait is there, so that a verdict from
    /// now on is not missed.
    private func outcome(_ fate: WriteFate, in handle: OwnerStoreHandle, table: String) -> MutationOutcomes.Outcome? {
        switch fate {
        case .pending:
            // A change of owner from now on ends the wait; one from before has passed it by.
            return openHandle?.generation == handle.generation ? nil : .withdrawn(Self.leftBehind)
        case .delivered(let rows): return .delivered(rows)
        case .rejected(let rejected): return .rejected(SyncError(rejection: rejected.failure, table: table))
        case .unknown:
            return .withdrawn(
                SyncError(
                    .unknownMutation, "No write of this id waits here, and no verdict on it is kept.", table: table))
        }
    }

    private func fates(of ids: [String], in handle: OwnerStoreHandle) async throws -> [WriteFate] {
        do {
            return try await handle.store.fates(of: ids)
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
    package init(rejection failure: ServerFailure, table: String) {
        self.init(
            .rejected, "The server refused the write; it waits in rejectedMutations for a decision.", table: table,
            server: failure)
    }
}
