package import KizunaCore
package import KizunaPostgREST
package import KizunaStore

/// The parts of a request and its table that decide how a mutation changes the rows of the request.
package struct QueryShape: Sendable {
    package let request: TableRequest
    package let table: TableID
    package let types: TableTypes
    package let keyColumns: [String]
    /// Whether the rows contain the primary key under its own name, so that the row of a mutation can be found.
    package let carriesKeys: Bool
    private let filter: CompiledFilter
    private let columns: SelectedColumns
    /// The columns that the select list names, besides `*`.
    private let namedColumns: Set<String>
    /// The columns of the order; nil if a term is not a plain column, so that no position can be computed.
    private let orderColumns: [String]?
    /// The columns that the filters and the order read.
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

    /// Whether a row with all columns of the table matches the filters.
    package func matches(_ row: RawJSON) -> Truth {
        filter.evaluate(RowView(row))
    }

    /// Whether the position of a row in the order stays the same.
    package func keepsPlace(_ before: RawJSON, _ after: RawJSON) -> Bool {
        orderColumns?.allSatisfy { before.member($0) == after.member($0) } ?? false
    }

    /// Whether the select list is `*`, so that a row of the response is the row of the table.
    package var showsAllColumns: Bool {
        if case .all = columns { true } else { false }
    }

    /// Whether a row of the response can be computed from the columns of the table.
    package var isFollowable: Bool {
        if case .notFollowable = columns { false } else { true }
    }

    /// Whether a row contains each column that the select list names. The response to a write lacks computed columns.
    package func isWhole(_ row: RawJSON) -> Bool {
        guard !namedColumns.isEmpty else { return true }
        return namedColumns.isSubset(of: ((try? row.objectMembers()) ?? []).map(\.name))
    }

    /// Returns a row of the table in the columns of the request. A missing column becomes null, so that optional properties
    /// decode (docs/spec/reads.md, Columns and limits of queued rows).
    package func projected(_ row: RawJSON) -> RawJSON {
        guard case .list(let list) = columns, let members = try? row.objectMembers() else { return row }
        return RawJSON(
            members: list.map { column in
                RawJSON.Member(name: column.name, value: members.last { $0.name == column.column }?.value ?? .null)
            })
    }

    /// Returns a row of the response under the column names of the table, without the columns that cannot be mapped back.
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

    /// Returns a row of the response with changes of the table's columns applied to it.
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
            // Plain columns have the names of the table; JSON paths, casts and embedded rows stay as they are.
            let present = Set(((try? row.objectMembers()) ?? []).map(\.name))
            return row.merging(changes.filter { present.contains($0.name) })
        }
    }
}
