internal import KizunaStore

/// The position of a scan for mutations that can be sent, and the tokens that block later mutations.
struct QueueScan: Sendable {
    var position: Int
    var isAnythingBefore = false
    /// The number of scanned items. Tests compare it with the length of the queue.
    var steps = 0
    private var blocked: Set<QueueItem.Token> = []
    private var blockedTables: Set<TableID> = []

    init(position: Int) { self.position = position }

    /// Whether an earlier mutation blocks a mutation with these tokens.
    func isInTheWay(of tokens: Set<QueueItem.Token>) -> Bool {
        tokens.contains { token in
            if case .wholeTable(let table) = token { return blockedTables.contains(table) }
            return Self.isInTheWay(blocked, of: token)
        }
    }

    /// Adds the tokens of a mutation that blocks later ones.
    mutating func block(_ tokens: Set<QueueItem.Token>) {
        blocked.formUnion(tokens)
        for token in tokens {
            switch token {
            case .row(let table, _), .parent(let table, _), .wholeTable(let table): blockedTables.insert(table)
            case .group: break
            }
        }
    }

    /// Whether one of the tokens blocks a mutation with this token. Two mutations that only need the same parent do not block
    /// each other.
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
