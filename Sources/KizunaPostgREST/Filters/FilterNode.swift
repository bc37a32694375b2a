/// A filter as a tree of AND, OR and NOT over tests of single columns.
indirect enum FilterNode: Sendable, Hashable {
    case all([FilterNode])
    case any([FilterNode])
    case not(FilterNode)
    case test(FilterTest)
    /// A text that the server would reject, or a filter whose effect depends on other tables.
    case undecidable
}

/// One test: an operation on a column or path.
struct FilterTest: Sendable, Hashable {
    let path: ColumnPath
    let operation: FilterOperation
}

enum FilterOperation: Sendable, Hashable {
    case compare(Comparison, Quantifier?, String)
    case isDistinct(String)
    /// Empty for `in.()`.
    case list([String])
    case isOperand(IsOperand)
    case like(ignoringCase: Bool, Quantifier?, String)
    case match(ignoringCase: Bool, Quantifier?, String)
    case contains(String)
    case containedBy(String)
    case overlaps(String)
    /// Ranges and full-text search.
    case opaque

    enum Comparison: String, Sendable, Hashable {
        case eq
        case neq
        case gt
        case gte
        case lt
        case lte
    }

    enum Quantifier: Sendable, Hashable {
        case any
        case all
    }

    enum IsOperand: String, Sendable, Hashable {
        case null
        case notNull = "not_null"
        case yes = "true"
        case no = "false"
        case unknown
    }
}
