internal import KizunaCore
internal import KizunaPostgREST

/// The rows of one table of a simulated server, in the order of their insertion.
struct ServedTable {
    let schema: SimulatedTable
    private(set) var order: [RowKey] = []
    private(set) var rows: [RowKey: RawJSON] = [:]
    private(set) var inserted = 0
    /// The last query and its rows, so that the pages of one query are not sorted again.
    private var lastQuery: (query: Query, rows: [RawJSON])?

    private struct Query: Equatable {
        var filters: [QueryItem]
        var order: [OrderTerm]
        var userID: String?
    }

    init(_ schema: SimulatedTable) { self.schema = schema }

    var all: [RawJSON] { order.compactMap { rows[$0] } }

    func key(of row: RawJSON) -> RowKey? { row.rowKey(columns: schema.primaryKey) }

    mutating func add(_ row: RawJSON, key: RowKey) {
        rows[key] = row
        order.append(key)
        inserted += 1
        lastQuery = nil
    }

    mutating func change(_ key: RowKey, to row: RawJSON) {
        rows[key] = row
        lastQuery = nil
    }

    /// Changes the key of a row; the row keeps its position.
    mutating func move(_ key: RowKey, to other: RowKey, as row: RawJSON) {
        rows[key] = nil
        rows[other] = row
        order = order.map { $0 == key ? other : $0 }
        lastQuery = nil
    }

    mutating func remove(_ key: RowKey) {
        rows[key] = nil
        lastQuery = nil
        order.removeAll { $0 == key }
    }

    // MARK: - Queries

    /// Returns the rows that are visible to a user and match all filters, sorted.
    mutating func response(
        _ filters: [QueryItem], sortedBy order: [OrderTerm], to userID: String?
    ) throws(SimulatedRejection) -> [RawJSON] {
        let query = Query(filters: filters, order: order, userID: userID)
        if let lastQuery, lastQuery.query == query { return lastQuery.rows }
        let rows = sorted(try matches(filters, of: userID), by: order)
        lastQuery = (query, rows)
        return rows
    }

    /// Returns the rows that are visible to a user and match all filters.
    func matches(_ filters: [QueryItem], of userID: String?) throws(SimulatedRejection) -> [RawJSON] {
        let visible = all.filter { isVisible($0, to: userID) }
        guard !filters.isEmpty else { return visible }
        let expression = FilterExpression(filters: filters)
        var compiled: [TableTypes: CompiledFilter] = [:]
        var found: [RawJSON] = []
        for row in visible {
            let types = types(of: row)
            let filter = compiled[types] ?? expression.compiled(for: types)
            compiled[types] = filter
            switch filter.evaluate(RowView(row)) {
            case .yes: found.append(row)
            case .no, .null: break
            case .unknown:
                throw SimulatedRejection(
                    501, code: "SIM01",
                    message: "The simulated server cannot decide a filter; declare the columns' types.")
            }
        }
        return found
    }

    func isVisible(_ row: RawJSON, to userID: String?) -> Bool {
        guard let column = schema.ownerColumn else { return true }
        return userID != nil && row.member(column)?.scalarText == userID
    }

    /// The declared types; for other columns, types derived from the values.
    private func types(of row: RawJSON) -> TableTypes {
        var columns = schema.columns
        for member in (try? row.objectMembers()) ?? [] where columns[member.name] == nil {
            switch member.value.kind {
            case .boolean: columns[member.name] = .bool
            case .number: columns[member.name] = .numeric
            case .string: columns[member.name] = .text
            case .null, .array, .object: break
            }
        }
        for (name, type) in columns where type == .text || type == .varchar { columns[name] = type.byteOrdered }
        return TableTypes(columns: columns, patternEvaluation: .ascii)
    }

    /// Returns the rows in the order of the terms; the sort is stable.
    private func sorted(_ rows: [RawJSON], by terms: [OrderTerm]) -> [RawJSON] {
        guard !terms.isEmpty else { return rows }
        let keyed = rows.map { row in (row, terms.map { SortValue(row.member($0.column)) }) }
        let indices = keyed.indices.sorted { one, other in
            for (at, term) in terms.enumerated() {
                let (left, right) = (keyed[one].1[at], keyed[other].1[at])
                if left == right { continue }
                if left == .null { return term.nullsFirst }
                if right == .null { return !term.nullsFirst }
                return term.ascending ? left.precedes(right) : right.precedes(left)
            }
            return one < other
        }
        return indices.map { keyed[$0].0 }
    }

    /// A value in the comparison of `ORDER BY`: numbers by value, everything else by bytes.
    private enum SortValue: Equatable {
        case null
        case number(Double)
        case text(String)

        init(_ value: RawJSON?) {
            guard let value, let text = value.scalarText else {
                self = .null
                return
            }
            self = value.kind == .number ? .number(Double(text) ?? 0) : .text(text)
        }

        func precedes(_ other: SortValue) -> Bool {
            switch (self, other) {
            case (.number(let one), .number(let two)): one < two
            case (.text(let one), .text(let two)): one.utf8.lexicographicallyPrecedes(two.utf8)
            case (.number, .text): true
            default: false
            }
        }
    }
}
