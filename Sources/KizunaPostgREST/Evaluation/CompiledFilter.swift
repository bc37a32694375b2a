internal import KizunaCore

/// Filters compiled for the types of one table. Every operand is parsed in advance for each type it can be compared
/// as, so that evaluating a row only reads its columns.
package struct CompiledFilter: Sendable {
    private indirect enum Node: Sendable {
        case all([Node])
        case any([Node])
        case not(Node)
        case test(CompiledTest)
        case undecidable
    }

    private let nodes: [Node]

    init(_ nodes: [FilterNode], _ types: TableTypes) {
        func compile(_ node: FilterNode) -> Node {
            switch node {
            case .all(let nodes): .all(nodes.map(compile))
            case .any(let nodes): .any(nodes.map(compile))
            case .not(let node): .not(compile(node))
            case .test(let test): .test(CompiledTest(test, types))
            case .undecidable: .undecidable
            }
        }
        self.nodes = nodes.map(compile)
    }

    /// Returns the truth value of the filters for a row.
    package func evaluate(_ row: RowView) -> Truth { Truth(Self.truth(ofAll: nodes, row)) }

    private static func truth(of node: Node, _ row: RowView) -> TruthSet {
        switch node {
        case .all(let nodes): truth(ofAll: nodes, row)
        case .any(let nodes): nodes.reduce(.no) { $0.or(truth(of: $1, row)) }
        case .not(let node): truth(of: node, row).negated
        case .test(let test): test.truth(row)
        case .undecidable: .any
        }
    }

    private static func truth(ofAll nodes: [Node], _ row: RowView) -> TruthSet {
        var result = TruthSet.yes
        for node in nodes where result != .no { result = result.and(truth(of: node, row)) }
        return result
    }
}

/// One compiled test: its result for a null, and its rule for a value.
struct CompiledTest: Sendable {
    private let path: ColumnPath
    private let columnKind: KizunaColumnType.Kind?
    private let rule: CellRule
    /// For a path whose text PostgreSQL may write in another way.
    private let opaqueRule: CellRule?
    private let onNull: TruthSet
    /// The result for a null that is either SQL null or the JSON value.
    private let onEitherNull: TruthSet

    init(_ test: FilterTest, _ types: TableTypes) {
        path = test.path
        columnKind = types.columns[test.path.column]?.kind
        let kind = Cell.kind(of: path, inColumnOf: columnKind)
        rule = CellRule(test.operation, kind: kind, types)
        opaqueRule = path.steps.isEmpty ? nil : CellRule(test.operation, kind: .opaque, types)
        onNull = CellRule.onNull(test.operation, kind: kind, types)
        onEitherNull = onNull.union(rule.truth(of: .null))
    }

    func truth(_ row: RowView) -> TruthSet {
        switch Cell.find(path, in: row, columnKind) {
        case .undecided: .any
        case .null: onNull
        case .nullOrJSONNull: onEitherNull
        case .value(let json): rule.truth(of: json)
        case .opaque(let json): opaqueRule?.truth(of: json) ?? .any
        }
    }
}
