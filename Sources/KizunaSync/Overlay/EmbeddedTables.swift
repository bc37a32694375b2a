package import KizunaPostgREST
package import KizunaStore

/// The tables whose rows a request embeds in its own rows, as far as the select list names them.
///
/// A select list may leave a table out: `author_id(*)` names a foreign key, and `tags(*)` may use a join table that has no
/// name in the request. So each table that the configuration does not declare counts as one that may be embedded.
package struct EmbeddedTables: Sendable {
    private let own: TableID
    private var named: Set<TableID> = []
    /// Whether the select list has a name that may be a foreign key.
    private var hasUnresolvedName = false
    private let tables: @Sendable (TableID) -> TableSchema

    package init(_ request: TableRequest, tables: @escaping @Sendable (TableID) -> TableSchema) {
        own = TableID(schema: request.schema, name: request.table)
        self.tables = tables
        add(request.selectList, of: own)
    }

    package var isEmpty: Bool { named.isEmpty }

    /// Adds the embedded tables of a select list; `parent` is the table of the list, nil if it is unknown.
    private mutating func add(_ list: SelectList, of parent: TableID?) {
        for embed in list.embeds {
            let target = TableID(schema: own.schema, name: embed.target)
            var table: TableID? = target
            if let referred = parent.flatMap({ tables($0).references[embed.target] }) {
                table = referred
            } else if !tables(target).isDeclared {
                hasUnresolvedName = true
                table = nil
            }
            named.insert(table ?? target)
            for hint in embed.hints { named.insert(TableID(schema: own.schema, name: hint)) }
            add(embed.inside, of: table)
        }
    }

    /// Whether a write to a table may change the embedded rows. For the request's own table: whether it is embedded in
    /// itself.
    package func mayShow(_ table: TableID) -> Bool {
        guard !isEmpty, table.schema == own.schema else { return false }
        if named.contains(table) { return true }
        guard table != own else { return false }
        let schema = tables(table)
        return hasUnresolvedName || !schema.isDeclared || isJoinTable(schema.references)
    }

    /// Whether a table with these foreign keys refers to two tables of the request.
    private func isJoinTable(_ references: [String: TableID]) -> Bool {
        references.values.count { $0 == own || named.contains($0) } > 1
    }
}
