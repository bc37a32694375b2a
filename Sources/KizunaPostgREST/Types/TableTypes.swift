/// The known types of a table's columns, for the evaluation of filters on the device.
package struct TableTypes: Sendable, Hashable {
    /// The declared or learned type by column name.
    package var columns: [String: KizunaColumnType]
    /// Whether `like`, `ilike`, `match` and `imatch` are evaluated.
    package var patternEvaluation: KizunaPatternEvaluation
    /// Whether the server's session time zone is UTC; it applies to a timestamp without offset.
    package var isSessionZoneUTC: Bool

    package init(
        columns: [String: KizunaColumnType] = [:], patternEvaluation: KizunaPatternEvaluation = .never,
        isSessionZoneUTC: Bool = true
    ) {
        self.columns = columns
        self.patternEvaluation = patternEvaluation
        self.isSessionZoneUTC = isSessionZoneUTC
    }
}

/// Whether patterns and regular expressions are evaluated on the device.
///
/// `patternEvaluation: .ascii` makes `ilike("title", pattern: "%x%")` hide a task inserted offline that does not match.
/// By default the server alone decides: a row inserted offline appears in every search until the list is fetched again.
public enum KizunaPatternEvaluation: Sendable, Hashable {
    /// Patterns are never evaluated.
    case never
    /// Patterns are evaluated where the result of PostgreSQL is certain: any text for `like`, otherwise ASCII.
    case ascii
}
