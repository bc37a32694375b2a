internal import Foundation
package import KizunaCore
package import KizunaPostgREST
package import KizunaStore

/// Queues the app's writes: makes queued mutations and commits them to the owner store.
///
/// Every write is queued first. See docs/spec/writes.md, One way to write.
package struct WriteQueue: Sendable {
    /// The limits of the configuration.
    package struct Limits: Sendable {
        package let pendingMutations: Int
        package let mutationBytes: Int

        package init(pendingMutations: Int, mutationBytes: Int) {
            self.pendingMutations = pendingMutations
            self.mutationBytes = mutationBytes
        }
    }

    let environment: SyncEnvironment
    let schemas: TableSchemas
    let owners: OwnerAccess
    let outcomes: MutationOutcomes
    private let limits: Limits
    private let compactsUnsentWrites: Bool

    package init(
        environment: SyncEnvironment, schemas: TableSchemas, owners: OwnerAccess, outcomes: MutationOutcomes,
        limits: Limits, compactsUnsentWrites: Bool
    ) {
        self.environment = environment
        self.schemas = schemas
        self.owners = owners
        self.outcomes = outcomes
        self.limits = limits
        self.compactsUnsentWrites = compactsUnsentWrites
    }

    /// Queues inserts or upserts, all or none.
    package func enqueue(
        inserting rows: [RawJSON], into table: TableID, upsert: UpsertRule? = nil
    ) async throws -> WriteReceipt {
        try await enqueue(try mutations(inserting: rows, into: table, upsert: upsert))
    }

    /// Queues an update or delete.
    package func enqueue(
        _ operation: QueuedMutation.Operation, on table: TableID, filters: [QueryItem]
    ) async throws -> WriteReceipt {
        try await enqueue([try mutation(operation, on: table, filters: filters)])
    }

    /// Queues mutations in one transaction.
    package func enqueue(_ mutations: [QueuedMutation]) async throws -> WriteReceipt {
        let handle = try await owners.handle()
        do {
            _ = try await handle.store.enqueue(mutations, limit: limits.pendingMutations)
            return WriteReceipt(queue: self, mutations: mutations)
        } catch {
            // The mutation must not be queued for another owner.
            let isLeftBehind = error.code == .closed && !owners.isClosed
            guard isLeftBehind else { throw error }
            throw SyncError(.discarded, "The owner changed before the write was queued; nothing was queued.")
        }
    }

    /// Returns one mutation per row, so that each row has an outcome of its own.
    package func mutations(
        inserting rows: [RawJSON], into table: TableID, upsert: UpsertRule?, group: String? = nil
    ) throws(SyncError) -> [QueuedMutation] {
        var mutations: [QueuedMutation] = []
        for row in rows { mutations.append(try mutation(inserting: row, into: table, upsert: upsert, group: group)) }
        return mutations
    }

    /// Returns the mutation of an update or delete.
    package func mutation(
        _ operation: QueuedMutation.Operation, on table: TableID, filters: [QueryItem], group: String? = nil
    ) throws(SyncError) -> QueuedMutation {
        if case .update(let patch, _) = operation { try ensureFits(patch, table) }
        let condition = FilterExpression(filters: filters)
        let schema = schemas[table]
        let keyColumns = schema.keyColumns
        let keys = condition.pinnedKeys(keyColumns: keyColumns, types: schema.types) ?? []
        var mutation = QueuedMutation(
            id: generatedID(), table: table, operation: operation, rowKeys: keys, group: group,
            createdAt: environment.wallClock())
        mutation.isCompactable =
            compactsUnsentWrites && group == nil && filters.count == keyColumns.count
            && condition.columns.isSubset(of: keyColumns) && !condition.readsUnknownColumns
            && mutation.keyChange(keyColumns: keyColumns) == .none
        return mutation
    }

    private func mutation(
        inserting row: RawJSON, into table: TableID, upsert: UpsertRule?, group: String?
    ) throws(SyncError) -> QueuedMutation {
        try ensureFits(row, table)
        let schema = schemas[table]
        var row = row
        var isGenerated = false
        if let column = schema.keyColumns.first, schema.keyColumns.count == 1, schema.generatesKeys,
            row.member(column).map(\.isNull) ?? true,
            upsert?.onConflict.isEmpty ?? true
                || upsert?.onConflict == schema.keyColumns
        {
            row = row.merging([.init(name: column, value: RawJSON(string: generatedID()))])
            isGenerated = true
        }
        let keys = row.rowKey(columns: schema.keyColumns).map { [$0] } ?? []
        let operation: QueuedMutation.Operation
        if let upsert {
            guard upsert.onConflict.allSatisfy({ row.member($0) != nil }) else {
                throw SyncError(
                    .notQueueable, "An upsert must have a value for each column of onConflict.", table: table.name)
            }
            operation = .upsert(row: row, onConflict: upsert.onConflict, ignoresDuplicates: upsert.ignoresDuplicates)
        } else {
            operation = .insert(row: row)
        }
        return QueuedMutation(
            id: generatedID(), table: table, operation: operation, rowKeys: keys, hasGeneratedKey: isGenerated,
            group: group,
            createdAt: environment.wallClock())
    }

    /// Throws `notQueueable` when the JSON of a mutation is longer than the limit.
    func ensureFits(_ mutation: QueuedMutation) throws(SyncError) {
        switch mutation.operation {
        case .insert(let row), .upsert(let row, _, _), .update(let row, _): try ensureFits(row, mutation.table)
        case .delete: break
        }
    }

    private func ensureFits(_ json: RawJSON, _ table: TableID) throws(SyncError) {
        guard json.bytes.count <= limits.mutationBytes else {
            throw SyncError(
                .notQueueable,
                "The row has \(json.bytes.count) bytes; the limit is \(limits.mutationBytes).",
                table: table.name)
        }
    }

    /// Returns a UUIDv7. It sorts by time, so new rows are close together in the server's index.
    package func generatedID() -> String {
        UUIDv7.text(
            milliseconds: UInt64(max(0, environment.wallClock().timeIntervalSince1970 * 1000)),
            random: (environment.random(), environment.random()))
    }
}
