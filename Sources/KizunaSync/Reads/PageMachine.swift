package import KizunaCore

/// Decides which pages to ask for until a range of rows is proved to be whole. Pure.
///
/// Each page but the first begins with the last row taken, so that a shift of the rows between two requests shows; then
/// the pull begins anew, three times at most. A range is whole when its limit is reached, when the server's count is, or
/// when nothing stands behind the last row. The row cap of the server is never assumed: it may be any number, and
/// change between two pages.
///
/// Invariants:
/// - P1: `isComplete` is true only with one of those three proofs.
/// - P2: each page brings a new row, restarts the pull, or ends it, so a pull ends.
/// - P3: no two rows taken have the same key.
package struct PageMachine: Sendable {
    package enum Step: Sendable, Equatable {
        case ask(offset: Int, limit: Int?)
        case finished(isComplete: Bool)
    }

    /// What a page means: which of its rows are new, whether all before it are void, and what is next.
    package struct Ruling: Sendable, Equatable {
        package var taken: [Int] = []
        package var voidsFormerPages = false
        package var next: Step
    }

    private let base: Int
    private let limit: Int?
    private var position = 0
    private var hasOverlap = false
    private var last: RawJSON?
    private var seen: Set<RowKey> = []
    private var restarts = 0

    private static let restartLimit = 3

    package init(offset: Int?, limit: Int?) {
        base = offset ?? 0
        self.limit = limit
    }

    /// The first page.
    package var first: Step { .ask(offset: base, limit: limit) }

    /// Takes a page; `total` is the server's count of all rows, where it told one.
    package mutating func answered(_ rows: [(key: RowKey?, json: RawJSON)], total: Int?) -> Ruling {
        if hasOverlap, rows.first.map({ !isLast($0) }) ?? true { return shifted() }
        var ruling = Ruling(next: .finished(isComplete: false))
        for (index, row) in rows.enumerated() where index > 0 || !hasOverlap {
            if let key = row.key, !seen.insert(key).inserted { continue }
            ruling.taken.append(index)
        }
        let gained = rows.count - (hasOverlap ? 1 : 0)
        position += gained
        if let row = rows.last { last = row.json.keyed(row.key) }
        if isWhole(total) || (gained == 0 && !hasOverlap && total == nil) {
            ruling.next = .finished(isComplete: true)
        } else if ruling.taken.isEmpty, gained > 0 || !hasOverlap {
            // The server counts rows it does not give, or gives the same ones again.
            return shifted()
        } else {
            // Only the last row again: look behind it, since the cap may be one row.
            hasOverlap = gained > 0
            ruling.next = ask()
        }
        return ruling
    }

    /// The server says that the page begins behind the last row.
    package mutating func rangeRefused() -> Ruling { shifted() }

    private func isLast(_ row: (key: RowKey?, json: RawJSON)) -> Bool { last == row.json.keyed(row.key) }

    private func isWhole(_ total: Int?) -> Bool {
        if let limit, position >= limit { return true }
        if let total { return base + position >= total }
        return false
    }

    private func ask() -> Step {
        let overlap = hasOverlap ? 1 : 0
        return .ask(offset: base + position - overlap, limit: limit.map { $0 - position + overlap })
    }

    private mutating func shifted() -> Ruling {
        guard restarts < Self.restartLimit else { return Ruling(next: .finished(isComplete: false)) }
        restarts += 1
        position = 0
        hasOverlap = false
        last = nil
        seen = []
        return Ruling(voidsFormerPages: true, next: first)
    }
}

extension RawJSON {
    /// What tells a row from another: its key, or without one its bytes.
    fileprivate func keyed(_ key: RowKey?) -> RawJSON { key.map { RawJSON(string: $0.text) } ?? self }
}
