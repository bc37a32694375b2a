/// Whether a read fetches further pages until it has proved that it holds every row.
///
/// A server returns at most as many rows as its project allows (1,000 by default) and does not say that it cut the rest.
/// See docs/spec/reads.md, Completeness.
public enum KizunaCompleteness: Sendable, Hashable, CaseIterable {
    /// One request. The rows are those of its response, and `isComplete` says whether they are proved to be all.
    case asAnswered
    /// Pages with a count of the rows, until all of them are there. The primary key is added to the order, so that pages
    /// meet without a gap. A change of the rows between two pages starts the pull again, three times at most.
    case pagesUntilComplete
}
