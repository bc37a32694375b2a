internal import KizunaCore

/// Evaluates a filter tree over one row.
struct FilterEvaluator {
    let row: RowView
    let types: TableTypes

    func truth(of node: FilterNode) -> TruthSet {
        switch node {
        case .all(let nodes): nodes.reduce(.yes) { $0.and(truth(of: $1)) }
        case .any(let nodes): nodes.reduce(.no) { $0.or(truth(of: $1)) }
        case .not(let node): truth(of: node).negated
        case .test(let test): truth(of: test.operation, Cell.find(test.path, in: row, types))
        case .undecidable: .any
        }
    }

    private func truth(of operation: FilterOperation, _ cell: Cell) -> TruthSet {
        switch cell {
        case .undecided: .any
        case .null(let kind): onNull(operation, kind)
        case .nullOrJSONNull(let kind):
            onNull(operation, kind).union(CellEvaluator(json: .null, kind: kind, types: types).truth(of: operation))
        case .value(let json, let kind): CellEvaluator(json: json, kind: kind, types: types).truth(of: operation)
        case .path(let json, let kind): CellEvaluator(json: json, kind: kind, types: types).truth(of: operation)
        }
    }

    /// An SQL null: every comparison is null, except with nothing or in the two-valued operators.
    private func onNull(_ operation: FilterOperation, _ kind: KizunaColumnType.Kind?) -> TruthSet {
        if let kind, TypeReader(kind: kind, isSessionZoneUTC: types.isSessionZoneUTC).refuses(operation) { return .any }
        return switch operation {
        case .isOperand(let operand): TruthSet(operand == .null || operand == .unknown)
        case .isDistinct: .yes
        case .list(let members): members.isEmpty ? .no : .null
        case .compare(_, let quantifier?, let text), .like(_, let quantifier?, let text),
            .match(_, let quantifier?, let text):
            switch ArrayLiteral.elements(text) {
            case .value(let elements): elements.isEmpty ? TruthSet(quantifier == .all) : .null
            case .refused, .undecided: .any
            }
        case .opaque: .any
        default: .null
        }
    }
}

/// Evaluates one test on a cell that is not SQL null.
struct CellEvaluator {
    let json: RawJSON
    /// The declared type, nil where none is.
    let kind: KizunaColumnType.Kind?
    let types: TableTypes

    func truth(of operation: FilterOperation) -> TruthSet {
        switch operation {
        case .isOperand(let operand): isTruth(operand)
        case .isDistinct(let text): compared(text) { $0.truth(of: .neq) }
        case .list(let members):
            members.isEmpty ? .no : isArray ? .any : quantified(.any, members) { compared($0) { $0.truth(of: .eq) } }
        case .compare(let comparison, nil, let text): compared(text) { $0.truth(of: comparison) }
        case .compare(let comparison, let quantifier?, let text):
            isArray ? .any : quantified(quantifier, literal: text) { compared($0) { $0.truth(of: comparison) } }
        case .like(let ignoringCase, let quantifier, let text):
            patterns(quantifier, text) { PatternEvaluator(ignoringCase: ignoringCase, kind: kind).like(json, $0) }
        case .match(let ignoringCase, let quantifier, let text):
            patterns(quantifier, text) { PatternEvaluator(ignoringCase: ignoringCase, kind: kind).match(json, $0) }
        case .contains(let text): container(text) { .init(Self.contains($0, $1)) }
        case .containedBy(let text): container(text) { .init(Self.contains($1, $0)) }
        case .overlaps(let text): kind == .jsonb ? .any : container(text, Self.overlaps)
        case .opaque: .any
        }
    }

    private var isArray: Bool {
        if case .array? = kind { return true }
        return false
    }

    private func isTruth(_ operand: FilterOperation.IsOperand) -> TruthSet {
        switch operand {
        case .null: return .no
        case .notNull: return .yes
        case .yes, .no, .unknown:
            guard json.kind == .boolean, kind == nil || kind == .bool else { return .any }
            let isTrue = json.bytes.first == UInt8(ascii: "t")
            return TruthSet(operand == .yes ? isTrue : operand == .no ? !isTrue : false)
        }
    }

    // MARK: - Comparisons

    private func compared(_ text: String, _ truth: (Compared) -> TruthSet) -> TruthSet {
        guard let outcomes = outcomes(text) else { return .any }
        return outcomes.reduce([]) { $0.union(truth($1)) }
    }

    private func outcomes(_ text: String) -> Set<Compared>? {
        guard let kind else { return UndeclaredComparison.outcomes(json, text) }
        if kind == .range { return json.stringValue.map { WireText.areSame($0, text) } == true ? [.equal] : nil }
        let reader = TypeReader(kind: kind, isSessionZoneUTC: types.isSessionZoneUTC)
        guard case .value(let wanted) = reader.operand(text), case .value(let cell) = reader.cell(json) else {
            return nil
        }
        return [TypedValue.compare(cell, wanted)]
    }

    private func quantified(
        _ quantifier: FilterOperation.Quantifier, literal: String, _ truth: (String) -> TruthSet
    ) -> TruthSet {
        guard case .value(let elements) = ArrayLiteral.elements(literal) else { return .any }
        return quantified(quantifier, elements, truth)
    }

    /// ANY is OR over the elements, ALL is AND; a null element compares to null. An element the server
    /// may refuse leaves nothing certain.
    private func quantified(
        _ quantifier: FilterOperation.Quantifier, _ elements: [String?], _ truth: (String) -> TruthSet
    ) -> TruthSet {
        if let kind {
            let reader = TypeReader(kind: kind, isSessionZoneUTC: types.isSessionZoneUTC)
            if kind == .json || elements.contains(where: { $0.map(reader.refuses) ?? false }) { return .any }
        }
        let truths = elements.map { $0.map(truth) ?? .null }
        return quantifier == .any ? truths.reduce(.no) { $0.or($1) } : truths.reduce(.yes) { $0.and($1) }
    }

    // MARK: - Patterns

    private func patterns(
        _ quantifier: FilterOperation.Quantifier?, _ text: String, _ truth: (String) -> TruthSet
    ) -> TruthSet {
        guard types.patternEvaluation == .ascii else { return .any }
        guard let quantifier else { return truth(text) }
        guard case .value(let elements) = ArrayLiteral.elements(text) else { return .any }
        let truths = elements.map { $0.map(truth) ?? .null }
        return quantifier == .any ? truths.reduce(.no) { $0.or($1) } : truths.reduce(.yes) { $0.and($1) }
    }

    // MARK: - Containment

    private func container(_ text: String, _ truth: (TypedValue, TypedValue) -> TruthSet) -> TruthSet {
        guard let kind, isArray || kind == .jsonb else { return .any }
        let reader = TypeReader(kind: kind, isSessionZoneUTC: types.isSessionZoneUTC)
        guard case .value(let wanted) = reader.operand(text), case .value(let cell) = reader.cell(json) else {
            return .any
        }
        return truth(cell, wanted)
    }

    /// `@>`: on arrays every element of the right must occur on the left; a null occurs nowhere.
    private static func contains(_ lhs: TypedValue, _ rhs: TypedValue) -> Bool {
        switch (lhs, rhs) {
        case (.array(let left), .array(let right)):
            right.allSatisfy { wanted in left.contains { TypedValue.areEqual($0, wanted) } }
        case (.json(let left), .json(let right)): left.contains(right)
        default: false
        }
    }

    /// `&&`: a common element that is not null.
    private static func overlaps(_ lhs: TypedValue, _ rhs: TypedValue) -> TruthSet {
        guard case .array(let left) = lhs, case .array(let right) = rhs else { return .any }
        return TruthSet(left.contains { element in right.contains { TypedValue.areEqual(element, $0) } })
    }
}
