public import Foundation
internal import KizunaCore

/// One emission of a read. Its fields are true together.
///
/// Source: seed "Reactive reads", what each emission says.
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
    /// Whether the rows are all that the server has for this request, as far as its answer told.
    public let isComplete: Bool

    package init(
        result: Value?, isFromCache: Bool, fetchedAt: Date?, hasPendingMutations: Bool, refresh: RefreshState,
        isComplete: Bool
    ) {
        self.result = result
        self.isFromCache = isFromCache
        self.fetchedAt = fetchedAt
        self.hasPendingMutations = hasPendingMutations
        self.refresh = refresh
        self.isComplete = isComplete
    }
}

extension QuerySnapshot: Equatable where Value: Equatable {}

/// A snapshot before its rows are decoded.
package struct RawSnapshot: Sendable, Equatable {
    package var rows: [ListFold.Row]?
    package var isFromCache: Bool
    package var fetchedAt: Date?
    package var hasPendingMutations: Bool
    package var refresh: RefreshState
    package var isComplete: Bool

    package init(
        rows: [ListFold.Row]?, isFromCache: Bool, fetchedAt: Date?, hasPendingMutations: Bool, refresh: RefreshState,
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
