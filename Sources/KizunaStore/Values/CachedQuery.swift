package import Foundation
package import KizunaCore

/// One row of a cached list.
package struct StoredRow: Sendable, Equatable {
    /// The row's place in the list's storage; stable while the row is in the list.
    package let slot: Int64
    package let key: RowKey?
    package let json: RawJSON

    package init(slot: Int64, key: RowKey?, json: RawJSON) {
        self.slot = slot
        self.key = key
        self.json = json
    }
}

/// What is stored of one request besides its rows.
package struct CachedQueryMetadata: Sendable, Equatable {
    package let id: Int64
    /// Canonical text of the request (docs/spec/reads.md, Query identity).
    package let cacheKey: String
    package let table: TableID
    /// The request's decoded query parameters, so that a list nobody iterates can still be judged.
    package let parameters: [QueuedMutation.Filter]
    package var fetchedAt: Date
    package var isStale: Bool
    /// False when the server said that there are more rows than it sent.
    package var isComplete: Bool
    /// Whether the rows carry the table's own column names, so that they may stand for rows of the table elsewhere.
    package let hasPlainColumns: Bool

    package init(
        id: Int64, cacheKey: String, table: TableID, parameters: [QueuedMutation.Filter], fetchedAt: Date,
        isStale: Bool,
        isComplete: Bool, hasPlainColumns: Bool
    ) {
        self.id = id
        self.cacheKey = cacheKey
        self.table = table
        self.parameters = parameters
        self.fetchedAt = fetchedAt
        self.isStale = isStale
        self.isComplete = isComplete
        self.hasPlainColumns = hasPlainColumns
    }
}

/// A cached list with its rows in the server's order.
package struct CachedQuery: Sendable, Equatable {
    package var head: CachedQueryMetadata
    package var rows: StoredRows

    package init(head: CachedQueryMetadata, rows: [StoredRow]) { self.init(head: head, rows: StoredRows(rows)) }

    init(head: CachedQueryMetadata, rows: StoredRows) {
        self.head = head
        self.rows = rows
    }
}

/// The rows of a cached list. Those of an answer that has just been stored are cut out of it only when somebody looks,
/// so that an answer nobody shows is not held twice.
package struct StoredRows: Sendable, Equatable, Sequence {
    fileprivate enum Source: Sendable {
        case rows([StoredRow])
        case response(body: [UInt8], cuts: [JSONArraySplitter.CutRow], slots: [Int64])
    }

    private let source: Source

    package init(_ rows: [StoredRow]) { source = .rows(rows) }

    init(body: [UInt8], cuts: [JSONArraySplitter.CutRow], slots: [Int64]) {
        source = .response(body: body, cuts: cuts, slots: slots)
    }

    package var count: Int {
        switch source {
        case .rows(let rows): rows.count
        case .response(_, let cuts, _): cuts.count
        }
    }

    package var underestimatedCount: Int { count }

    package struct Iterator: IteratorProtocol {
        private let source: Source
        private var index = 0

        fileprivate init(_ source: Source) { self.source = source }

        package mutating func next() -> StoredRow? {
            defer { index += 1 }
            switch source {
            case .rows(let rows): return index < rows.count ? rows[index] : nil
            case .response(let body, let cuts, let slots):
                guard index < cuts.count else { return nil }
                return StoredRow(
                    slot: slots[index], key: cuts[index].key,
                    json: RawJSON(unchecked: Array(body[cuts[index].range])))
            }
        }
    }

    package func makeIterator() -> Iterator { Iterator(source) }

    package static func == (lhs: StoredRows, rhs: StoredRows) -> Bool { lhs.elementsEqual(rhs) }
}

/// What a live read needs to begin with, all of one moment.
package struct CachedQuerySnapshot: Sendable {
    package var list: CachedQuery?
    /// The table's waiting writes in order.
    package var entries: [QueuedMutation]
    /// Cached rows, of whatever list, that carry a key of those writes.
    package var known: [RowKey: RawJSON]
    /// The table's refused writes.
    package var rejected: [RejectedEntry]
    /// The ids of the waiting writes to tables whose rows the list shows inside its own.
    package var embeddedWrites: [String]

    package init(
        list: CachedQuery?, entries: [QueuedMutation], known: [RowKey: RawJSON], rejected: [RejectedEntry] = [],
        embeddedWrites: [String] = []
    ) {
        self.embeddedWrites = embeddedWrites
        self.list = list
        self.entries = entries
        self.known = known
        self.rejected = rejected
    }
}

/// How one cached list changes when the server has accepted a write (docs/spec/writes.md, Effect of an accepted
/// mutation).
package struct CachedQueryEdit: Sendable, Equatable {
    package var replaced: [Replacement] = []
    package var removed: [RowKey] = []
    package var appended: [Replacement] = []
    package var becomesStale = false

    package struct Replacement: Sendable, Equatable {
        package let key: RowKey
        package let json: RawJSON

        package init(key: RowKey, json: RawJSON) {
            self.key = key
            self.json = json
        }
    }

    package init() {}

    package var isEmpty: Bool { self == CachedQueryEdit() }
}

/// What one committed transaction changed. Delivered after the commit, in commit order, all parts together.
package struct StoreChange: Sendable {
    package enum CachedQueryChange: Sendable {
        /// The whole list is new; `askedAt` is the tick of the request that brought it.
        case replaced(CachedQuery, askedAt: LogicalTime)
        case edited(CachedQueryEdit)
    }

    package var queued: [QueuedMutation] = []
    /// By table: cached rows, of whatever list, that carry a key of the queued writes, and what the server said of the rows
    /// of delivered ones; nil for a row that is no more.
    package var known: [TableID: [RowKey: RawJSON?]] = [:]
    /// Entries that stay, with new bookkeeping.
    package var updated: [QueuedMutation] = []
    /// Entries that stay in their place and do something else now.
    package var rewritten: [QueuedMutation] = []
    /// The mutations that left the queue, each with its fate.
    package var ended: [Ended] = []
    package var rejected: [RejectedEntry] = []
    /// Refused entries the app has dealt with.
    package var unrejected: [String] = []
    /// By cache key.
    package var lists: [String: CachedQueryChange] = [:]
    /// Tables whose cached rows changed.
    package var changedTables: Set<TableID> = []
    package var isCleared = false
    /// Whether another process made the change. What it holds of lists is what they hold now, all steps in one.
    package var isOthers = false
    /// Who sends the queue, where that was looked up.
    package var drainer: Drainer?
    /// Whether there is nothing to tell anybody.
    package var isSilent = false
    /// Entries waiting after the commit.
    package var queueDepth = 0

    /// Who sends the queue of a vault that several processes share.
    package enum Drainer: Sendable, Hashable {
        /// Nobody else does: this process may.
        case nobodyElse
        /// Another process, at least so long unless it gives it up or ends.
        case other(Duration)
    }

    /// A mutation that left the queue.
    package struct Ended: Sendable, Hashable {
        package let id: String
        package let table: TableID
        package let fate: Fate

        package init(id: String, table: TableID, fate: Fate) {
            self.id = id
            self.table = table
            self.fate = fate
        }
    }

    /// How a mutation left the queue.
    package enum Fate: Sendable, Hashable {
        /// The server accepted it; the rows it returned.
        case delivered([RawJSON])
        case rejected(ServerFailure)
        /// The app discarded it, or the store was cleared.
        case withdrawn
        /// It is in `queued` of the same change.
        case queuedAgain
    }

    package init() {}

    /// The tables whose queue changed in a way a reader can see.
    package var queueTables: Set<TableID> {
        Set((queued + updated + rewritten).map(\.table) + ended.map(\.table))
    }
}

/// What became of a server answer that was to be stored (docs/spec/reads.md, Order of responses and changes).
package enum ResponseOutcome: Sendable, Equatable {
    case stored
    /// The table changed after the request left; ask again.
    case olderThanTable
    /// A newer answer of the same request is stored already.
    case superseded
    /// Local data was cleared after the request left.
    case olderThanClear
}
