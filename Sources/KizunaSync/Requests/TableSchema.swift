package import KizunaPostgREST
package import KizunaStore

/// The schemas of all tables, from the configuration.
package struct TableSchemas: Sendable {
    private let declared: [TableID: TableSchema]
    private let undeclared: TableSchema

    package init(declared: [TableID: TableSchema], undeclared: TableSchema) {
        self.declared = declared
        self.undeclared = undeclared
    }

    package subscript(table: TableID) -> TableSchema { declared[table] ?? undeclared }

    /// The schema of a table that the configuration declares, nil for any other.
    package func declared(_ table: TableID) -> TableSchema? { declared[table] }
}

/// The configuration of one table.
package struct TableSchema: Sendable {
    package let keyColumns: [String]
    package let types: TableTypes
    package let generatesKeys: Bool
    /// Declared foreign keys: a column and the table whose key it holds.
    package let references: [String: TableID]
    package let completeness: KizunaCompleteness
    /// Whether the configuration declares the table.
    package let isDeclared: Bool

    package init(
        keyColumns: [String] = ["id"], types: TableTypes = TableTypes(), generatesKeys: Bool = true,
        references: [String: TableID] = [:], completeness: KizunaCompleteness = .asAnswered,
        isDeclared: Bool = false
    ) {
        self.isDeclared = isDeclared
        self.completeness = completeness
        self.keyColumns = keyColumns
        self.types = types
        self.generatesKeys = generatesKeys
        self.references = references
    }
}
