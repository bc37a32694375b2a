internal import KizunaPostgREST

/// How an upsert finds an existing row, and whether it changes it.
package struct UpsertRule: Sendable, Equatable {
    /// The columns that identify the existing row; empty for the primary key.
    package let onConflict: [String]
    package let ignoresDuplicates: Bool

    package init(onConflict: String?, ignoresDuplicates: Bool) {
        self.onConflict = onConflict.map(WireText.names) ?? []
        self.ignoresDuplicates = ignoresDuplicates
    }
}
