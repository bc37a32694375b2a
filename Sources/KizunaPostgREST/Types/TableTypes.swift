/// What is known of a table's columns when filters are evaluated on the device.
package struct TableTypes: Sendable, Hashable {
    /// The declared or learned type by column name.
    package var columns: [String: KizunaColumnType]
    /// Whether `like`, `ilike`, `match` and `imatch` are evaluated at all.
    package var patternEvaluation: KizunaPatternEvaluation
    /// Whether the server's session zone is UTC, which a timestamp without offset is read in.
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
/// `patternEvaluation: .ascii` makes `ilike("title", pattern: "%x%")` hide a task made offline that does not match. The
/// default leaves a search to the server: what was made offline shows in every search until the list is fetched again.
public enum KizunaPatternEvaluation: Sendable, Hashable {
    /// Patterns are never evaluated.
    case never
    /// Patterns are evaluated where PostgreSQL would provably answer the same: any text for `like`, ASCII otherwise.
    case ascii
}
