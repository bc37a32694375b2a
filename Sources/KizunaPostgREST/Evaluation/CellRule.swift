internal import KizunaCore

/// Evaluates one test on a cell that is not SQL null, for one type; nil is a type that is not declared.
struct CellRule: Sendable {
    private enum Check: Sendable {
        case isOperand(FilterOperation.IsOperand)
        case compare(FilterOperation.Comparison, Operand)
        /// OR or AND over several operands; a comparison with a null operand is null.
        case compareEach(FilterOperation.Comparison, FilterOperation.Quantifier, [Operand?])
        case pattern(PatternEvaluator, isMatch: Bool, FilterOperation.Quantifier, [String?])
        case container(Container, TypeReader, Reading<TypedValue>)
        case settled(TruthSet)
    }

    private enum Container {
        case contains
        case containedBy
        case overlaps
    }

    private let check: Check
    private let kind: KizunaColumnType.Kind?

    init(_ operation: FilterOperation, kind: KizunaColumnType.Kind?, _ types: TableTypes) {
        self.kind = kind
        check = Self.check(operation, kind, types)
    }

    func truth(of json: RawJSON) -> TruthSet {
        switch check {
        case .settled(let truth): return truth
        case .isOperand(let operand): return truthOfIs(operand, json)
        case .compare(let comparison, let operand): return operand.outcomes(of: json)?.truth(of: comparison) ?? .any
        case .compareEach(let comparison, let quantifier, let operands):
            return Self.quantified(quantifier, operands) {
                $0.outcomes(of: json)?.truth(of: comparison) ?? .any
            }
        case .pattern(let evaluator, let isMatch, let quantifier, let patterns):
            return Self.quantified(quantifier, patterns) {
                isMatch ? evaluator.match(json, $0) : evaluator.like(json, $0)
            }
        case .container(let container, let reader, let operand):
            guard case .value(let wanted) = operand, case .value(let cell) = reader.cell(json) else { return .any }
            return Self.truth(of: container, cell, wanted)
        }
    }

    /// Returns the result of an operation on SQL null: null for every comparison except with an empty list and for the
    /// two-valued operators.
    static func onNull(
        _ operation: FilterOperation, kind: KizunaColumnType.Kind?, _ types: TableTypes
    ) -> TruthSet {
        if let kind, TypeReader(kind: kind, isSessionZoneUTC: types.isSessionZoneUTC).rejects(operation) { return .any }
        return switch operation {
        case .isOperand(let operand): TruthSet(operand == .null || operand == .unknown)
        case .isDistinct: .yes
        case .list(let members): members.isEmpty ? .no : .null
        case .compare(_, let quantifier?, let text), .like(_, let quantifier?, let text),
            .match(_, let quantifier?, let text):
            switch ArrayLiteral.elements(text) {
            case .value(let elements): elements.isEmpty ? TruthSet(quantifier == .all) : .null
            case .rejected, .undecided: .any
            }
        case .opaque: .any
        default: .null
        }
    }

    // MARK: - Compiling

    private static func check(
        _ operation: FilterOperation, _ kind: KizunaColumnType.Kind?, _ types: TableTypes
    ) -> Check {
        func operand(_ text: String) -> Operand { Operand(text, kind: kind, isSessionZoneUTC: types.isSessionZoneUTC) }
        switch operation {
        case .isOperand(let operand): return .isOperand(operand)
        case .isDistinct(let text): return .compare(.neq, operand(text))
        case .list(let members):
            return members.isEmpty ? .settled(.no) : each(.eq, .any, members, kind, types, operand)
        case .compare(let comparison, nil, let text): return .compare(comparison, operand(text))
        case .compare(let comparison, let quantifier?, let text):
            guard case .value(let elements) = ArrayLiteral.elements(text) else { return .settled(.any) }
            return each(comparison, quantifier, elements, kind, types, operand)
        case .like(let ignoringCase, let quantifier, let text):
            return pattern(text, quantifier, ignoringCase: ignoringCase, isMatch: false, kind, types)
        case .match(let ignoringCase, let quantifier, let text):
            return pattern(text, quantifier, ignoringCase: ignoringCase, isMatch: true, kind, types)
        case .contains(let text): return container(.contains, text, kind, types)
        case .containedBy(let text): return container(.containedBy, text, kind, types)
        case .overlaps(let text):
            return kind == .jsonb ? .settled(.any) : container(.overlaps, text, kind, types)
        case .opaque: return .settled(.any)
        }
    }

    /// The result is unknown if the server may reject an element.
    private static func each(
        _ comparison: FilterOperation.Comparison, _ quantifier: FilterOperation.Quantifier, _ elements: [String?],
        _ kind: KizunaColumnType.Kind?, _ types: TableTypes, _ operand: (String) -> Operand
    ) -> Check {
        if let kind {
            if case .array = kind { return .settled(.any) }
            let reader = TypeReader(kind: kind, isSessionZoneUTC: types.isSessionZoneUTC)
            if kind == .json || elements.contains(where: { $0.map(reader.rejects) ?? false }) { return .settled(.any) }
        }
        return .compareEach(comparison, quantifier, elements.map { $0.map(operand) })
    }

    private static func pattern(
        _ text: String, _ quantifier: FilterOperation.Quantifier?, ignoringCase: Bool, isMatch: Bool,
        _ kind: KizunaColumnType.Kind?, _ types: TableTypes
    ) -> Check {
        guard types.patternEvaluation == .ascii else { return .settled(.any) }
        let evaluator = PatternEvaluator(ignoringCase: ignoringCase, kind: kind)
        guard let quantifier else { return .pattern(evaluator, isMatch: isMatch, .any, [text]) }
        guard case .value(let elements) = ArrayLiteral.elements(text) else { return .settled(.any) }
        return .pattern(evaluator, isMatch: isMatch, quantifier, elements)
    }

    private static func container(
        _ container: Container, _ text: String, _ kind: KizunaColumnType.Kind?, _ types: TableTypes
    ) -> Check {
        switch kind {
        case .array?, .jsonb?: break
        default: return .settled(.any)
        }
        let reader = TypeReader(kind: kind ?? .jsonb, isSessionZoneUTC: types.isSessionZoneUTC)
        return .container(container, reader, reader.operand(text))
    }

    // MARK: - Evaluating

    private func truthOfIs(_ operand: FilterOperation.IsOperand, _ json: RawJSON) -> TruthSet {
        switch operand {
        case .null: return .no
        case .notNull: return .yes
        case .yes, .no, .unknown:
            guard json.kind == .boolean, kind == nil || kind == .bool else { return .any }
            let isTrue = json.bytes.first == UInt8(ascii: "t")
            return TruthSet(operand == .yes ? isTrue : operand == .no ? !isTrue : false)
        }
    }

    /// ANY is OR over the elements, ALL is AND; a comparison with a null element is null.
    private static func quantified<Element>(
        _ quantifier: FilterOperation.Quantifier, _ elements: [Element?], _ truth: (Element) -> TruthSet
    ) -> TruthSet {
        let (start, decided): (TruthSet, TruthSet) = quantifier == .any ? (.no, .yes) : (.yes, .no)
        var result = start
        for element in elements where result != decided {
            let next = element.map(truth) ?? .null
            result = quantifier == .any ? result.or(next) : result.and(next)
        }
        return result
    }

    private static func truth(of container: Container, _ cell: TypedValue, _ wanted: TypedValue) -> TruthSet {
        switch container {
        case .contains: return TruthSet(contains(cell, wanted))
        case .containedBy: return TruthSet(contains(wanted, cell))
        case .overlaps:
            // They share an element that is not null.
            guard case .array(let left) = cell, case .array(let right) = wanted else { return .any }
            return TruthSet(left.contains { element in right.contains { TypedValue.areEqual(element, $0) } })
        }
    }

    /// `@>`: on arrays every element of the right side must be in the left; a null is in no array.
    private static func contains(_ lhs: TypedValue, _ rhs: TypedValue) -> Bool {
        switch (lhs, rhs) {
        case (.array(let left), .array(let right)):
            right.allSatisfy { wanted in left.contains { TypedValue.areEqual($0, wanted) } }
        case (.json(let left), .json(let right)): left.contains(right)
        default: false
        }
    }
}
