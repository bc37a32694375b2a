package import KizunaCore
package import KizunaStore

/// A queued write as the queue's machine sees it: its place, what it touches, and how it may share a request.
package struct QueueItem: Sendable, Equatable, Identifiable {
    /// Something a write touches. Two writes that touch the same thing are sent in queue order (docs/spec/writes.md,
    /// Order of sending).
    package enum Token: Hashable, Sendable {
        case row(TableID, RowKey)
        /// A row of which it must only be sure that it is there: others may be sure of it at the same time.
        case parent(TableID, RowKey)
        /// Rows that cannot be named: in the way of every write of the table.
        case wholeTable(TableID)
        case group(String)
    }

    package let id: String
    package let sequence: Int64
    package let table: TableID
    package let tokens: Set<Token>
    /// Writes of equal signature may travel in one request; nil travels alone.
    package let signature: String?
    /// Most writes of its kind in one request: keys of updates and deletes stand in its URL.
    package let mostShared: Int
    package let bytes: Int
    /// Rows that exist only if this write is accepted.
    package let creates: Set<RowKey>
    /// The rows the write needs to exist: its own keys, when it is not the one that makes them.
    package let needs: Set<RowKey>
    package let group: String?
    /// Whether nobody else can have made a row of its key, so that a duplicate is its own earlier self: a proxy or a
    /// platform's HTTP may have repeated the request unasked.
    package let hasGeneratedKey: Bool
    /// Whether sending it twice does no more than sending it once, or shows by a duplicate that it did.
    package let isRepeatable: Bool
    /// Whether an earlier request may have carried it to the server.
    package var maybeSent: Bool

    package init(
        id: String, sequence: Int64, table: TableID, tokens: Set<Token>, signature: String?,
        mostShared: Int = .max, bytes: Int, creates: Set<RowKey> = [], needs: Set<RowKey> = [], group: String? = nil,
        hasGeneratedKey: Bool = false,
        isRepeatable: Bool = true, maybeSent: Bool = false
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
        self.maybeSent = maybeSent
    }

    /// Makes an item of a stored entry; `parents` are the rows of other tables it refers to by declared foreign keys.
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
            // What is written under the new key needs this write, as it would need the insert of that row.
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
            hasGeneratedKey: entry.hasGeneratedKey, isRepeatable: entry.isRepeatable, maybeSent: entry.maybeSent)
    }

    /// A UUID takes 37 bytes of the URL, and a common proxy takes 4 KiB.
    private static let mostKeys = 100

    /// Rows with other columns may not share a request: an absent column would become null instead of its default.
    private static func columns(_ row: RawJSON) -> String {
        ((try? row.objectMembers()) ?? []).map(\.name).sorted().joined(separator: "\u{1F}")
    }
}
