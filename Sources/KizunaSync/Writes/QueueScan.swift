internal import KizunaStore

/// How far the queue was looked through for what may start, and what stands in the way of what comes behind.
struct QueueScan: Sendable {
    var position: Int
    var isAnythingBefore = false
    /// Items looked at; what tests hold against the length of the queue.
    var steps = 0
    private var blocked: Set<QueueItem.Token> = []
    private var blockedTables: Set<TableID> = []

    init(position: Int) { self.position = position }

    /// Whether something earlier touches what a write of these tokens touches.
    func isInTheWay(of tokens: Set<QueueItem.Token>) -> Bool {
        tokens.contains { token in
            if case .wholeTable(let table) = token { return blockedTables.contains(table) }
            return Self.isInTheWay(blocked, of: token)
        }
    }

    /// Notes what a write touches that goes or stays before what comes behind.
    mutating func block(_ tokens: Set<QueueItem.Token>) {
        blocked.formUnion(tokens)
        for token in tokens {
            switch token {
            case .row(let table, _), .parent(let table, _), .wholeTable(let table): blockedTables.insert(table)
            case .group: break
            }
        }
    }

    /// Whether one of some tokens stands in the way of another. Two that only need a row to be there do not meet.
    static func isInTheWay(_ others: Set<QueueItem.Token>, of token: QueueItem.Token) -> Bool {
        switch token {
        case .row(let table, let key):
            others.contains(token) || others.contains(.wholeTable(table)) || others.contains(.parent(table, key))
        case .parent(let table, let key):
            others.contains(.row(table, key)) || others.contains(.wholeTable(table))
        case .wholeTable, .group: others.contains(token)
        }
    }
}
