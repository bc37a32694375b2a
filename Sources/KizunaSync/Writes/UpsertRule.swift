internal import KizunaPostgREST

/// What an upsert does with a row that exists already.
package struct UpsertRule: Sendable, Equatable {
    /// The columns that identify the existing row; empty means the primary key.
    package let onConflict: [String]
    package let ignoresDuplicates: Bool

    package init(onConflict: String?, ignoresDuplicates: Bool) {
        self.onConflict = onConflict.map(WireText.names) ?? []
        self.ignoresDuplicates = ignoresDuplicates
    }
}
