package import Foundation
package import KizunaCore

/// The name of a table with its schema.
package struct TableID: Hashable, Sendable {
    package let schema: String
    package let name: String

    package init(schema: String = "public", name: String) {
        self.schema = schema
        self.name = name
    }
}

/// One write that waits for its verdict: intent only, never a header or a token (docs/spec/writes.md, One way to
/// write).
package struct QueuedMutation: Sendable, Equatable, Identifiable {
    /// What the write does.
    package enum Operation: Sendable, Equatable {
        case insert(row: RawJSON)
        case upsert(row: RawJSON, onConflict: [String], ignoresDuplicates: Bool)
        /// `filters` are the request's parameters, decoded, in call order.
        case update(patch: RawJSON, filters: [Filter])
        case delete(filters: [Filter])
    }

    /// A filter parameter, decoded.
    package struct Filter: Sendable, Hashable {
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Stable for the entry's life.
    package let id: String
    /// The order of acceptance; given by the store.
    package internal(set) var sequence: Int64
    package let table: TableID
    package internal(set) var operation: Operation
    /// Primary keys the write names, where it does.
    package let rowKeys: [RowKey]
    /// Whether the key was made by this package, so no one else can have made a row with it.
    package let hasGeneratedKey: Bool
    /// Whether it may be folded into a waiting insert of its row: asked for by the app, and it names the row by its key alone.
    package var isCompactable = false
    /// Entries of one `write` call share a group.
    package let group: String?
    package let createdAt: Date
    package internal(set) var attempts: Int
    /// Whether a request holding this write may have reached the server (durable before each send).
    package internal(set) var maybeSent: Bool
    /// Code of the last failure, without values.
    package internal(set) var lastError: String?

    package init(
        id: String, table: TableID, operation: Operation, rowKeys: [RowKey], hasGeneratedKey: Bool = false,
        group: String? = nil, createdAt: Date, sequence: Int64 = 0, attempts: Int = 0, maybeSent: Bool = false,
        lastError: String? = nil
    ) {
        self.id = id
        self.sequence = sequence
        self.table = table
        self.operation = operation
        self.rowKeys = rowKeys
        self.hasGeneratedKey = hasGeneratedKey
        self.group = group
        self.createdAt = createdAt
        self.attempts = attempts
        self.maybeSent = maybeSent
        self.lastError = lastError
    }
}

/// A write the server refused for good, kept until the app decides.
package struct RejectedEntry: Sendable, Equatable {
    package let entry: QueuedMutation
    package let failure: ServerFailure
    /// The id of the refused write this one depended on, when it was not refused itself.
    package let dependsOn: String?
    /// The server's row of the same key when it was refused, where it could be read.
    package let serverRow: RawJSON?
    package let rejectedAt: Date

    package init(
        entry: QueuedMutation, failure: ServerFailure, dependsOn: String? = nil, serverRow: RawJSON? = nil,
        rejectedAt: Date
    ) {
        self.entry = entry
        self.failure = failure
        self.dependsOn = dependsOn
        self.serverRow = serverRow
        self.rejectedAt = rejectedAt
    }
}
