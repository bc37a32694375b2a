internal import KizunaCore

/// A filter's operand, parsed in advance for each type its cell may have.
enum Operand: Sendable {
    case declared(TypeReader, Reading<TypedValue>)
    /// Ranges are equal if their texts are equal; otherwise undecided.
    case range(String)
    case undeclared(UndeclaredOperand)

    init(_ text: String, kind: KizunaColumnType.Kind?, isSessionZoneUTC: Bool) {
        switch kind {
        case nil: self = .undeclared(UndeclaredOperand(text))
        case .range?: self = .range(text)
        case let kind?:
            let reader = TypeReader(kind: kind, isSessionZoneUTC: isSessionZoneUTC)
            self = .declared(reader, reader.operand(text))
        }
    }

    /// How a cell may stand to the operand; nil where that is undecided.
    func outcomes(of json: RawJSON) -> Outcomes? {
        switch self {
        case .undeclared(let operand): return operand.outcomes(of: json)
        case .range(let text): return json.stringValue.map { WireText.areSame($0, text) } == true ? .equal : nil
        case .declared(let reader, let operand):
            guard case .value(let wanted) = operand, case .value(let cell) = reader.cell(json) else { return nil }
            return Outcomes(TypedValue.compare(cell, wanted))
        }
    }
}

/// The possible results of comparing a cell with an operand.
struct Outcomes: OptionSet, Sendable {
    let rawValue: UInt8

    static let less = Outcomes(rawValue: 1)
    static let equal = Outcomes(rawValue: 2)
    static let greater = Outcomes(rawValue: 4)
    static let different = Outcomes(rawValue: 8)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(_ compared: Compared) {
        self =
            switch compared {
            case .less: .less
            case .equal: .equal
            case .greater: .greater
            case .different: .different
            }
    }

    /// Returns the possible truth values of a comparison.
    func truth(of comparison: FilterOperation.Comparison) -> TruthSet {
        var truth: TruthSet = []
        if contains(.less) { truth.formUnion(Compared.less.truth(of: comparison)) }
        if contains(.equal) { truth.formUnion(Compared.equal.truth(of: comparison)) }
        if contains(.greater) { truth.formUnion(Compared.greater.truth(of: comparison)) }
        if contains(.different) { truth.formUnion(Compared.different.truth(of: comparison)) }
        return truth
    }
}
