package import KizunaCore
package import KizunaPostgREST
package import KizunaStore

/// What a list needs to know of its request and its table to lay writes over its rows; made once per list.
package struct QueryShape: Sendable {
    package let request: TableRequest
    package let table: TableID
    package let types: TableTypes
    package let keyColumns: [String]
    /// Whether the rows show the primary key under its own name, so that a write's row can be found among them.
    package let carriesKeys: Bool
    private let filter: CompiledFilter
    private let columns: SelectedColumns
    /// The columns the request names, besides all those of the table.
    private let namedColumns: Set<String>
    /// The order's columns, nil where a term is no plain column; then no row's place can be followed.
    private let orderColumns: [String]?
    /// Columns the request's filters and order read.
    package let decidingColumns: Set<String>
    package let isOrdered: Bool
    package let isLimited: Bool
    package let hasOffset: Bool

    package init(request: TableRequest, types: TableTypes, keyColumns: [String]) {
        self.request = request
        self.types = types
        self.keyColumns = keyColumns
        table = TableID(schema: request.schema, name: request.table)
        let expression = FilterExpression(request)
        filter = expression.compiled(for: types)
        let select = request.selectList
        columns = select.selected
        namedColumns = Set(select.named.map(\.column))
        carriesKeys =
            select.hasStar || keyColumns.allSatisfy { select.named.contains(SelectedColumn(name: $0, column: $0)) }
        orderColumns = request.orderColumns
        decidingColumns = expression.columns.union(orderColumns ?? [])
        isOrdered = orderColumns?.isEmpty != true
        hasOffset = (request.offset ?? 0) > 0
        isLimited = request.limit != nil || hasOffset
    }

    /// Whether the request admits a whole row of the table.
    package func matches(_ row: RawJSON) -> Truth {
        filter.evaluate(RowView(row))
    }

    /// Whether a change leaves the row's place in the order as it is.
    package func keepsPlace(_ before: RawJSON, _ after: RawJSON) -> Bool {
        orderColumns?.allSatisfy { before.member($0) == after.member($0) } ?? false
    }

    /// Whether rows are answered as they are, so that an answered row and the table's row are the same text.
    package var showsAllColumns: Bool {
        if case .all = columns { true } else { false }
    }

    /// Whether a row of the answer can be made from the table's own columns.
    package var isFollowable: Bool {
        if case .notFollowable = columns { false } else { true }
    }

    /// Whether a row of the table carries every column the request names. One that a function computes comes with a read
    /// that asks for it, and not with the answer to a write.
    package func isWhole(_ row: RawJSON) -> Bool {
        guard !namedColumns.isEmpty else { return true }
        return namedColumns.isSubset(of: ((try? row.objectMembers()) ?? []).map(\.name))
    }

    /// A whole row as the request would answer it; a column the row does not carry becomes null, so that optional
    /// properties decode (docs/spec/reads.md, Columns and limits of queued rows).
    package func projected(_ row: RawJSON) -> RawJSON {
        guard case .list(let list) = columns, let members = try? row.objectMembers() else { return row }
        return RawJSON(
            members: list.map { column in
                RawJSON.Member(name: column.name, value: members.last { $0.name == column.column }?.value ?? .null)
            })
    }

    /// An answered row under the table's own column names; columns that cannot be told are left out.
    package func unprojected(_ row: RawJSON) -> RawJSON {
        switch columns {
        case .all: return row
        case .notFollowable: return RawJSON(members: [])
        case .list(let list):
            guard list.contains(where: { $0.name != $0.column }), let members = try? row.objectMembers() else {
                return row
            }
            return RawJSON(
                members: list.compactMap { column in
                    members.last { $0.name == column.name }.map {
                        RawJSON.Member(name: column.column, value: $0.value)
                    }
                })
        }
    }

    /// An answered row with changes of the table's columns laid over it.
    package func merged(_ row: RawJSON, with changes: [RawJSON.Member]) -> RawJSON {
        switch columns {
        case .all: return row.merging(changes)
        case .list(let list):
            return row.merging(
                list.compactMap { column in
                    changes.last { $0.name == column.column }.map {
                        RawJSON.Member(name: column.name, value: $0.value)
                    }
                })
        case .notFollowable:
            // Plain columns of such a list still carry the table's names; paths, casts and embeds are left as they are.
            let present = Set(((try? row.objectMembers()) ?? []).map(\.name))
            return row.merging(changes.filter { present.contains($0.name) })
        }
    }
}
