package import KizunaPostgREST
package import KizunaStore

/// The tables whose rows a request shows inside its own rows, as far as its select list tells.
///
/// A select list does not always tell: `author_id(*)` names a foreign key, and `tags(*)` may go through a table of
/// pairs that is not named at all. So a table of which the configuration says nothing may always be one of them.
package struct EmbeddedTables: Sendable {
    private let own: TableID
    private var named: Set<TableID> = []
    /// Whether a name may be that of a foreign key.
    private var hasRiddle = false
    private let tables: @Sendable (TableID) -> TableSchema

    package init(_ request: TableRequest, tables: @escaping @Sendable (TableID) -> TableSchema) {
        own = TableID(schema: request.schema, name: request.table)
        self.tables = tables
        add(request.selectList, of: own)
    }

    package var isEmpty: Bool { named.isEmpty }

    /// Takes in the embeds of a list of columns; `parent` is the table they belong to, nil where that is not known.
    private mutating func add(_ list: SelectList, of parent: TableID?) {
        for embed in list.embeds {
            let target = TableID(schema: own.schema, name: embed.target)
            var table: TableID? = target
            if let referred = parent.flatMap({ tables($0).references[embed.target] }) {
                table = referred
            } else if !tables(target).isDeclared {
                hasRiddle = true
                table = nil
            }
            named.insert(table ?? target)
            for hint in embed.hints { named.insert(TableID(schema: own.schema, name: hint)) }
            add(embed.inside, of: table)
        }
    }

    /// Whether a write to a table may change what is embedded. Of the request's own table: whether it is embedded in
    /// itself.
    package func mayShow(_ table: TableID) -> Bool {
        guard !isEmpty, table.schema == own.schema else { return false }
        if named.contains(table) { return true }
        guard table != own else { return false }
        let schema = tables(table)
        return hasRiddle || !schema.isDeclared || joins(schema.references)
    }

    /// Whether a table of these references stands between two tables of the request.
    private func joins(_ references: [String: TableID]) -> Bool {
        references.values.count { $0 == own || named.contains($0) } > 1
    }
}
