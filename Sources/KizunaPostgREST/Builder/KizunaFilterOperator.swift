/// An operator in the spelling of a request, for `not(_:operator:value:)`.
///
/// `from("tasks").not("done", operator: .is, value: true)` ⟶ `GET /tasks?done=not.is.true`. Offline: evaluated where
/// the method of the operator is.
public struct KizunaFilterOperator: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    /// The operator's spelling.
    public let rawValue: String

    /// Creates an operator from its spelling.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Creates an operator from its spelling.
    public init(stringLiteral value: String) { self.init(rawValue: value) }

    /// Equal.
    public static let eq: Self = "eq"
    /// Not equal.
    public static let neq: Self = "neq"
    /// Greater than.
    public static let gt: Self = "gt"
    /// Greater than or equal.
    public static let gte: Self = "gte"
    /// Less than.
    public static let lt: Self = "lt"
    /// Less than or equal.
    public static let lte: Self = "lte"
    /// Matches a pattern.
    public static let like: Self = "like"
    /// Matches a pattern in any case.
    public static let ilike: Self = "ilike"
    /// Matches a regular expression.
    public static let match: Self = "match"
    /// Matches a regular expression in any case.
    public static let imatch: Self = "imatch"
    /// Is null, true or false.
    public static let `is`: Self = "is"
    /// Differs, where null counts as a value.
    public static let isdistinct: Self = "isdistinct"
    /// Is one of a list.
    public static let `in`: Self = "in"
    /// Contains.
    public static let cs: Self = "cs"
    /// Is contained by.
    public static let cd: Self = "cd"
    /// Lies entirely before a range.
    public static let sl: Self = "sl"
    /// Lies entirely after a range.
    public static let sr: Self = "sr"
    /// Does not begin before a range.
    public static let nxl: Self = "nxl"
    /// Does not end after a range.
    public static let nxr: Self = "nxr"
    /// Is adjacent to a range.
    public static let adj: Self = "adj"
    /// Shares an element.
    public static let ov: Self = "ov"
    /// Full-text search, `to_tsquery`.
    public static let fts: Self = "fts"
    /// Full-text search, `plainto_tsquery`.
    public static let plfts: Self = "plfts"
    /// Full-text search, `phraseto_tsquery`.
    public static let phfts: Self = "phfts"
    /// Full-text search, `websearch_to_tsquery`.
    public static let wfts: Self = "wfts"
}
