package import KizunaCore

/// Decides which pages to ask for until a range of rows is proved to be whole. Pure.
///
/// Each page but the first begins with the last row taken, so that a shift of the rows between two requests shows; that two
/// rows changed places shows by one that comes again. Then the pull begins anew, three times at most. A range is whole
/// when its limit is reached, or when the count that came with its last page is: one answer holds both. The row cap of
/// the server is never assumed: it may be any number and change between two pages. Where the server does not count, gives
/// one row at a time, or gives a key on several pages, nothing is proved.
///
/// Invariants:
/// - P1: `isComplete` is true only with one of those two proofs, and then no row that was there throughout is missing.
/// - P2: each page brings a new row, begins the pull anew, or ends it, so a pull ends.
/// - P3: no two rows taken have the same key.
package struct PageMachine: Sendable {
    package enum Step: Sendable, Equatable {
        case ask(offset: Int, limit: Int?)
        case finished(isComplete: Bool)
    }

    /// What a page means: which of its rows are new, whether all before it are void, and what is next.
    package struct Decision: Sendable, Equatable {
        package var taken: [Int] = []
        package var voidsPreviousPages = false
        package var next: Step
    }

    private let base: Int
    private let limit: Int?
    private var position = 0
    private var hasOverlap = false
    private var last: RawJSON?
    private var seen: Set<RowKey> = []
    private var restarts = 0
    /// Whether a row came again and the pull could not begin anew.
    private var isDoubtful = false

    private static let restartLimit = 3

    package init(offset: Int?, limit: Int?) {
        base = offset ?? 0
        self.limit = limit
    }

    /// The first page.
    package var first: Step { .ask(offset: base, limit: limit) }

    /// Takes a page; `total` is the server's count of all rows, where it told one.
    package mutating func answered(_ rows: [(key: RowKey?, json: RawJSON)], total: Int?) -> Decision {
        if hasOverlap, rows.first.map({ !isLast($0) }) ?? true { return shifted() }
        var decision = Decision(next: .finished(isComplete: false))
        var own: Set<RowKey> = []
        var comesAgain = false
        for (index, row) in rows.enumerated() where index > 0 || !hasOverlap {
            if let key = row.key {
                guard seen.insert(key).inserted else {
                    comesAgain = comesAgain || !own.contains(key)
                    continue
                }
                own.insert(key)
            }
            decision.taken.append(index)
        }
        if comesAgain {
            // It stood before the shared row and now stands behind it: another has come to stand before it, unseen.
            guard restarts == Self.restartLimit else { return shifted() }
            isDoubtful = true
        }
        let gained = rows.count - (hasOverlap ? 1 : 0)
        position += gained
        if let row = rows.last { last = row.json.keyed(row.key) }
        if isWhole(total) {
            decision.next = .finished(isComplete: !isDoubtful)
        } else if gained == 0 {
            decision.next = .finished(isComplete: false)
        } else if decision.taken.isEmpty {
            // The server gives the same rows again.
            return shifted()
        } else {
            hasOverlap = true
            decision.next = .ask(offset: base + position - 1, limit: limit.map { $0 - position + 1 })
        }
        return decision
    }

    /// The server says that the page begins behind the last row.
    package mutating func rangeRejected() -> Decision { shifted() }

    private func isLast(_ row: (key: RowKey?, json: RawJSON)) -> Bool { last == row.json.keyed(row.key) }

    private func isWhole(_ total: Int?) -> Bool {
        if let limit, position >= limit { return true }
        if let total { return base + position >= total }
        return false
    }

    private mutating func shifted() -> Decision {
        guard restarts < Self.restartLimit else { return Decision(next: .finished(isComplete: false)) }
        restarts += 1
        position = 0
        hasOverlap = false
        last = nil
        seen = []
        return Decision(voidsPreviousPages: true, next: first)
    }
}

extension RawJSON {
    /// What tells a row from another: its key, or without one its bytes.
    fileprivate func keyed(_ key: RowKey?) -> RawJSON { key.map { RawJSON(string: $0.text) } ?? self }
}
