internal import KizunaCore
public import Foundation
package import KizunaStore

/// A mutation in the queue that has no outcome yet.
public struct PendingMutation: Sendable, Identifiable, Equatable {
    /// The operation of a mutation.
    public enum Operation: String, Sendable, CaseIterable {
        /// Adds a row.
        case insert
        /// Adds a row, or changes the row that has its key.
        case upsert
        /// Changes the rows that match the filters.
        case update
        /// Removes the rows that match the filters.
        case delete
    }

    /// The id of the mutation. It stays the same after a restart.
    public let id: String
    /// The table it writes to.
    public let table: String
    /// The operation.
    public let operation: Operation
    /// The primary keys that it names, as text, and the keys that it gives to its rows; empty for an update or delete by other
    /// columns.
    public let rowIDs: [String]
    /// The time of the app's call, by the device's clock.
    public let createdAt: Date
    /// The number of requests that ended without an outcome.
    public let attempts: Int
    /// The code of the last failure. It never contains a value of a row.
    public let lastError: String?

    package init(_ entry: QueuedMutation, keyColumns: [String] = []) {
        id = entry.id
        table = entry.table.name
        operation =
            switch entry.operation {
            case .insert: .insert
            case .upsert: .upsert
            case .update: .update
            case .delete: .delete
            }
        var keys = entry.rowKeys
        if case .moves(let moves) = entry.keyChange(keyColumns: keyColumns) { keys += keys.compactMap { moves[$0] } }
        rowIDs = keys.map(\.text)
        createdAt = entry.createdAt
        attempts = entry.attempts
        lastError = entry.lastError
    }
}
