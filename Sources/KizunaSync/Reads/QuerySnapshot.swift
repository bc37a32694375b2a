public import Foundation
package import KizunaCore

/// One emission of a read. Its fields are true together.
///
/// See docs/spec/reads.md, Fields of a snapshot.
public struct QuerySnapshot<Value: Sendable>: Sendable {
    /// The rows with the user's queued writes laid over them; nil while nothing is known for the query: nothing cached
    /// and no queued write it admits. An empty list means that the server returned no rows.
    public let result: Value?
    /// Whether the rows are the device's copy rather than an answer this read had from the server: true until the
    /// read's refresh succeeds, always under `cacheOnly`, and again once a write marks them stale.
    public let isFromCache: Bool
    /// When the server sent the rows, by the device's clock; never the time of a local change applied to them.
    public let fetchedAt: Date?
    /// Whether a queued write added, changed or removed a row shown.
    public let hasPendingMutations: Bool
    /// How the refresh behind the read stands.
    public let refresh: RefreshState
    /// Whether the rows are proved to be all that the server has for this request: its count or the request's limit was
    /// reached, or it had none. False where nothing proves it, since a server cuts long answers without a word; see
    /// `KizunaCompleteness.pagesUntilComplete`.
    public let isComplete: Bool
    /// How many rows match, where the request asked for a `count`.
    public let count: Int?
    private let shown: ShownRows

    /// How each row of `result` stands, in the same order, so that a list needs no second stream to mark its rows.
    public var rowStates: [QueryRow] { shown.map(QueryRow.init) }

    package init(
        result: Value?, isFromCache: Bool, fetchedAt: Date?, hasPendingMutations: Bool, refresh: RefreshState,
        isComplete: Bool, count: Int? = nil, shown: ShownRows = []
    ) {
        self.count = count
        self.shown = shown
        self.result = result
        self.isFromCache = isFromCache
        self.fetchedAt = fetchedAt
        self.hasPendingMutations = hasPendingMutations
        self.refresh = refresh
        self.isComplete = isComplete
    }
}

/// How one row of a snapshot stands.
public struct QueryRow: Sendable, Equatable {
    /// What is known of the row.
    public enum State: Sendable, Equatable {
        /// As the server sent it.
        case confirmed
        /// A queued write made or changed it.
        case pending
        /// A write to it was refused and waits for a decision under this id.
        case rejected(mutationID: String)
    }

    /// The row's primary key as text; nil where the columns asked for do not hold it.
    public let id: String?
    /// How it stands.
    public let state: State

    init(_ row: OverlayFold.Row) {
        id = row.key?.text
        state = row.isPending ? .pending : row.rejectedID.map { .rejected(mutationID: $0) } ?? .confirmed
    }
}

extension QuerySnapshot: Equatable where Value: Equatable {}

/// A snapshot before its rows are decoded.
package struct RawSnapshot: Sendable, Equatable {
    package var rows: ShownRows?
    package var isFromCache: Bool
    package var fetchedAt: Date?
    package var hasPendingMutations: Bool
    package var refresh: RefreshState
    package var isComplete: Bool
    /// The answer of a request whose shape is not rows.
    package var response: ShapedResponse?
    package var count: Int?

    package init(
        rows: ShownRows?, isFromCache: Bool, fetchedAt: Date?, hasPendingMutations: Bool, refresh: RefreshState,
        isComplete: Bool
    ) {
        self.rows = rows
        self.isFromCache = isFromCache
        self.fetchedAt = fetchedAt
        self.hasPendingMutations = hasPendingMutations
        self.refresh = refresh
        self.isComplete = isComplete
    }
}

/// An answer the cache cannot hold.
package enum ShapedResponse: Sendable, Equatable {
    /// One JSON value of any kind.
    case json(RawJSON)
    case text([UInt8])
    /// No row matched, or only headers were asked for.
    case nothing
}
