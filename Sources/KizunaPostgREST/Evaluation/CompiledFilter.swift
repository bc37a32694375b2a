internal import KizunaCore

/// Filters made ready for one table's types: every operand is read beforehand, as every type it may be compared as, so
/// that a row costs no more than reading its own columns.
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

    /// What the filters say of a row.
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

/// One test made ready: what it says of a null, and how it looks at a value.
struct CompiledTest: Sendable {
    private let path: ColumnPath
    private let columnKind: KizunaColumnType.Kind?
    private let rule: CellRule
    /// For what a path finds in a shape whose text PostgreSQL may write otherwise.
    private let opaqueRule: CellRule?
    private let onNull: TruthSet
    /// Where SQL null and the JSON value null cannot be told apart.
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
