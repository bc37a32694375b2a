/// The truth value of a filter for a row.
package enum Truth: Sendable, Hashable, CaseIterable {
    /// The row matches.
    case yes
    /// The filter is false.
    case no
    /// The filter is null; the row does not match.
    ///
    /// Also used for "false or null, but not true".
    case null
    /// The result of the server is not known on the device.
    case unknown

    /// Whether the row matches; nil if this is unknown.
    package var isMatched: Bool? {
        switch self {
        case .yes: true
        case .no, .null: false
        case .unknown: nil
        }
    }

    /// SQL's AND: `false AND unknown` is false.
    package func and(_ other: Truth) -> Truth { Truth(TruthSet(self).and(TruthSet(other))) }

    /// SQL's OR: `true OR unknown` is true.
    package func or(_ other: Truth) -> Truth { Truth(TruthSet(self).or(TruthSet(other))) }

    /// SQL's NOT: `NOT null` is null.
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

/// The possible truth values of an SQL expression: one member is certain, all three are unknown.
struct TruthSet: OptionSet, Sendable, Hashable {
    let rawValue: UInt8

    static let yes = TruthSet(rawValue: 1)
    static let no = TruthSet(rawValue: 2)
    static let null = TruthSet(rawValue: 4)
    /// Unknown.
    static let any: TruthSet = [.yes, .no, .null]
    /// True or false, not null.
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
