package import KizunaCore
package import KizunaStore

/// A queued mutation as the machine sees it: its place in the queue, the rows it touches, and whether it can share a request.
package struct QueueItem: Sendable, Equatable, Identifiable {
    /// A part of the data that a mutation touches. Two mutations with a common token are sent in queue order
    /// (docs/spec/writes.md, Order of sending).
    package enum Token: Hashable, Sendable {
        case row(TableID, RowKey)
        /// A row that must exist. Several mutations may need it at the same time.
        case parent(TableID, RowKey)
        /// Rows that are not named by key. It conflicts with each mutation of the table.
        case wholeTable(TableID)
        case group(String)
    }

    package let id: String
    package let sequence: Int64
    package let table: TableID
    package let tokens: Set<Token>
    /// Mutations with equal signatures may share a request; nil is sent alone.
    package let signature: String?
    /// The maximum number of mutations in a shared request. It is lower for updates and deletes, because the URL contains their
    /// keys.
    package let mostShared: Int
    package let bytes: Int
    /// The rows that exist only when this mutation is accepted.
    package let creates: Set<RowKey>
    /// The rows that must exist: its own rows, unless it inserts them.
    package let needs: Set<RowKey>
    package let group: String?
    /// Whether the key is client-generated. A duplicate is then its own row, also on the first send, because a proxy or the HTTP
    /// client of the platform may have repeated the request.
    package let hasGeneratedKey: Bool
    /// Whether it may be sent again after an unknown outcome: a repeated request has no further effect, or meets a duplicate.
    package let isRepeatable: Bool
    /// Whether it is an update or a delete.
    package let isKeyed: Bool
    /// Whether an earlier request may have reached the server.
    package var maybeSent: Bool

    package init(
        id: String, sequence: Int64, table: TableID, tokens: Set<Token>, signature: String?,
        mostShared: Int = .max, bytes: Int, creates: Set<RowKey> = [], needs: Set<RowKey> = [], group: String? = nil,
        hasGeneratedKey: Bool = false,
        isRepeatable: Bool = true, isKeyed: Bool = false, maybeSent: Bool = false
    ) {
        self.id = id
        self.sequence = sequence
        self.table = table
        self.tokens = tokens
        self.signature = signature
        self.mostShared = mostShared
        self.bytes = bytes
        self.creates = creates
        self.needs = needs
        self.group = group
        self.hasGeneratedKey = hasGeneratedKey
        self.isRepeatable = isRepeatable
        self.isKeyed = isKeyed
        self.maybeSent = maybeSent
    }

    /// Makes the item of a queued mutation. `parents` are the rows of other tables that it references by declared foreign keys.
    package init(_ entry: QueuedMutation, keyColumns: [String] = ["id"], parents: [Token] = []) {
        var tokens = Set(parents)
        if let group = entry.group { tokens.insert(.group(group)) }
        if entry.rowKeys.isEmpty, !entry.isServerKeyedInsert { tokens.insert(.wholeTable(entry.table)) }
        for key in entry.rowKeys { tokens.insert(.row(entry.table, key)) }
        var signature: String?
        var creates: Set<RowKey> = []
        var bytes = 0
        switch entry.operation {
        case .insert(let row):
            signature = "insert \(Self.columns(row))"
            creates = Set(entry.rowKeys)
            bytes = row.bytes.count
        case .upsert(let row, let onConflict, let ignores):
            signature = "upsert \(onConflict) \(ignores) \(Self.columns(row))"
            creates = Set(entry.rowKeys)
            bytes = row.bytes.count
        case .update(let patch, _):
            bytes = patch.bytes.count
            if entry.plainKeyFilter(keyColumns: keyColumns) != nil, keyColumns.allSatisfy({ patch.member($0) == nil }) {
                signature = "update \(patch.text)"
            }
        case .delete:
            if entry.plainKeyFilter(keyColumns: keyColumns) != nil { signature = "delete" }
        }
        var needs = creates.isEmpty ? Set(entry.rowKeys) : []
        switch entry.keyChange(keyColumns: keyColumns) {
        case .none: break
        case .moves(let moves):
            // Later mutations of the new key depend on this one, as on an insert.
            creates = Set(moves.values)
            needs = Set(entry.rowKeys)
            for key in moves.values { tokens.insert(.row(entry.table, key)) }
        case .unknown: tokens.insert(.wholeTable(entry.table))
        }
        self.init(
            id: entry.id, sequence: entry.sequence, table: entry.table, tokens: tokens,
            signature: entry.group == nil ? signature : nil, mostShared: creates.isEmpty ? Self.mostKeys : .max,
            bytes: bytes, creates: creates,
            needs: needs, group: entry.group,
            hasGeneratedKey: entry.hasGeneratedKey, isRepeatable: entry.isRepeatable,
            isKeyed: entry.isKeyed, maybeSent: entry.maybeSent)
    }

    /// A UUID takes 37 bytes of the URL; common proxies accept 4 KiB.
    private static let mostKeys = 100

    /// Rows with different columns cannot share a request: a missing column would become null instead of its default.
    private static func columns(_ row: RawJSON) -> String {
        ((try? row.objectMembers()) ?? []).map(\.name).sorted().joined(separator: "\u{1F}")
    }
}
