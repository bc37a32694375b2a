/// Where a live read takes its rows from.
///
/// See docs/spec/reads.md, Strategies.
public enum SequenceReadStrategy: Sendable, Hashable, CaseIterable {
    /// Cached rows at once, the server asked in parallel. A failed refresh leaves the rows and is retried for as long as
    /// the sequence is iterated. Use it for almost every screen.
    case cacheFirstThenNetwork
    /// The server first, then the cached rows as they change. Offline with the query cached, they come at once and the
    /// server is asked until it answers; with nothing cached, or on a server error, the sequence fails.
    case networkFirstThenCache
    /// The device's copy alone; never a request. A query that is not cached gives nil, or the queued writes it admits.
    case cacheOnly
}

/// Where a one-shot read takes its rows from.
///
/// See docs/spec/reads.md, One-shot reads.
public enum ReadStrategy: Sendable, Hashable, CaseIterable {
    /// The server; the cached rows when it cannot be reached. A server error is thrown even when rows are cached.
    case networkFirst
    /// The cached rows where there are any, else the server.
    case cacheFirst
    /// The cached rows, or the queued writes the query admits; throws `cacheMiss` when there is neither.
    case cacheOnly
    /// The server; throws when it cannot be reached. The answer becomes the cached list that live reads show.
    case networkOnly
}
