/// Which rows of the result are asked for.
package struct RowRange: Sendable, Equatable {
    package var offset: Int
    /// Nil for all rows from the offset on.
    package var limit: Int?

    package init(offset: Int = 0, limit: Int? = nil) {
        self.offset = offset
        self.limit = limit
    }

    package var isAll: Bool { offset == 0 && limit == nil }

    /// Joins `limit` and `offset` with the header `Range`, which counts for GET only.
    package static func parse(
        limit: Int?, offset: Int?, header: String?, method: String
    ) throws(RestFailure) -> RowRange {
        if limit == 0 { return RowRange(offset: 0, limit: 0) }
        var lower = max(offset ?? 0, 0)
        var upper: Int?
        // A negative limit ends before every row; the sum below cannot overflow.
        if let limit { upper = limit < 0 ? -1 : limit - 1 > Int.max - lower ? Int.max : lower + (limit - 1) }
        if method == "GET", let header, let bounds = bounds(header) {
            if let end = bounds.upper, end < bounds.lower {
                throw .badRange(
                    "The lower boundary must be lower than or equal to the upper boundary in the Range header.")
            }
            lower = max(lower, bounds.lower)
            upper = [upper, bounds.upper].compactMap { $0 }.min()
        }
        guard let upper else { return RowRange(offset: lower, limit: nil) }
        guard upper >= lower else { throw .badRange("Limit should be greater than or equal to zero.") }
        return RowRange(offset: lower, limit: upper - lower == Int.max ? nil : upper - lower + 1)
    }

    /// `0-9` or `10-`; anything else is no range of rows.
    private static func bounds(_ header: String) -> (lower: Int, upper: Int?)? {
        let halves = header.split(separator: "-", omittingEmptySubsequences: false)
        guard halves.count == 2, !halves[0].isEmpty,
            halves.allSatisfy({ $0.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } })
        else { return nil }
        return (Int(halves[0]) ?? Int.max, halves[1].isEmpty ? nil : Int(halves[1]) ?? Int.max)
    }

    /// The range with at most this many rows.
    func capped(at maxRows: Int?) -> RowRange {
        guard let maxRows else { return self }
        return RowRange(offset: offset, limit: min(limit ?? maxRows, maxRows))
    }
}
