/// What a filter says of a row.
package enum Truth: Sendable, Hashable, CaseIterable {
    /// The row is admitted.
    case yes
    /// The filter is false.
    case no
    /// The filter is null, which admits the row as little as `no`.
    ///
    /// Also stands for "false or null, but not true".
    case null
    /// The device cannot tell what the server would say.
    case unknown

    /// Whether the row is admitted; nil where that is unknown.
    package var isMatched: Bool? {
        switch self {
        case .yes: true
        case .no, .null: false
        case .unknown: nil
        }
    }

    /// SQL's AND: `false AND anything` is false, whatever is unknown.
    package func and(_ other: Truth) -> Truth { Truth(TruthSet(self).and(TruthSet(other))) }

    /// SQL's OR: `true OR anything` is true, whatever is unknown.
    package func or(_ other: Truth) -> Truth { Truth(TruthSet(self).or(TruthSet(other))) }

    /// SQL's NOT: of null it is null.
    package var negated: Truth { Truth(TruthSet(self).negated) }

    init(_ set: TruthSet) {
        switch set {
        case .yes: self = .yes
        case .no: self = .no
        case .null, [.no, .null]: self = .null
        default: self = .unknown
        }
    }
}

/// The answers SQL may give, as far as they are known: one member is certainty, all three know nothing.
struct TruthSet: OptionSet, Sendable, Hashable {
    let rawValue: UInt8

    static let yes = TruthSet(rawValue: 1)
    static let no = TruthSet(rawValue: 2)
    static let null = TruthSet(rawValue: 4)
    /// Nothing is known.
    static let any: TruthSet = [.yes, .no, .null]
    /// Not null, but it is not known which.
    static let either: TruthSet = [.yes, .no]

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(_ truth: Truth) {
        switch truth {
        case .yes: self = .yes
        case .no: self = .no
        case .null: self = .null
        case .unknown: self = .any
        }
    }

    init(_ isTrue: Bool) { self = isTrue ? .yes : .no }

    func and(_ other: TruthSet) -> TruthSet {
        var result: TruthSet = []
        if contains(.no) || other.contains(.no) { result.insert(.no) }
        if contains(.yes), other.contains(.yes) { result.insert(.yes) }
        if contains(.null), !other.isDisjoint(with: [.null, .yes]) { result.insert(.null) }
        if other.contains(.null), contains(.yes) { result.insert(.null) }
        return result
    }

    func or(_ other: TruthSet) -> TruthSet { negated.and(other.negated).negated }

    var negated: TruthSet {
        var result: TruthSet = contains(.null) ? .null : []
        if contains(.yes) { result.insert(.no) }
        if contains(.no) { result.insert(.yes) }
        return result
    }
}
