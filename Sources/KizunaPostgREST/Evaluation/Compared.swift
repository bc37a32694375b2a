/// The result of comparing a cell with an operand.
enum Compared: Sendable, Hashable {
    case less
    case equal
    case greater
    /// Not equal, in an unknown order.
    case different

    init<Value: Comparable>(_ lhs: Value, _ rhs: Value) {
        self = lhs < rhs ? .less : lhs == rhs ? .equal : .greater
    }

    var flipped: Compared {
        switch self {
        case .less: .greater
        case .greater: .less
        case .equal, .different: self
        }
    }

    /// Returns the truth value of a comparison; neither side is null.
    func truth(of comparison: FilterOperation.Comparison) -> TruthSet {
        switch comparison {
        case .eq: TruthSet(self == .equal)
        case .neq: TruthSet(self != .equal)
        case .gt: self == .different ? .either : TruthSet(self == .greater)
        case .gte: self == .different ? .either : TruthSet(self == .greater || self == .equal)
        case .lt: self == .different ? .either : TruthSet(self == .less)
        case .lte: self == .different ? .either : TruthSet(self == .less || self == .equal)
        }
    }
}
