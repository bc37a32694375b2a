internal import KizunaCore
public import Foundation
package import KizunaStore

/// A write that waits for the server's verdict.
public struct PendingMutation: Sendable, Identifiable, Equatable {
    /// What the write does.
    public enum Operation: String, Sendable, CaseIterable {
        /// Adds a row.
        case insert
        /// Adds a row, or changes the one that has its key.
        case upsert
        /// Changes the rows that match.
        case update
        /// Removes the rows that match.
        case delete
    }

    /// The write's id, stable for its life, also over restarts.
    public let id: String
    /// The table it writes to.
    public let table: String
    /// What it does.
    public let operation: Operation
    /// The primary keys it names, as text, those it gives to its rows included; empty for a write by other columns.
    public let rowIDs: [String]
    /// When the app made it, by the device's clock.
    public let createdAt: Date
    /// How often it was sent without a verdict.
    public let attempts: Int
    /// A code for what went wrong the last time; never a value.
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
