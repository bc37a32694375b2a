internal import KizunaCore
internal import KizunaPostgREST

/// The rows of one table of a simulated server, in the order of their insertion.
struct ServedTable {
    let schema: SimulatedTable
    private(set) var order: [RowKey] = []
    private(set) var rows: [RowKey: RawJSON] = [:]
    private(set) var inserted = 0
    /// The last question and its rows, so that pages of one question do not sort the table anew.
    private var asked: (question: Question, rows: [RawJSON])?

    private struct Question: Equatable {
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
        asked = nil
    }

    mutating func change(_ key: RowKey, to row: RawJSON) {
        rows[key] = row
        asked = nil
    }

    /// Gives a row another key; it keeps its place.
    mutating func move(_ key: RowKey, to other: RowKey, as row: RawJSON) {
        rows[key] = nil
        rows[other] = row
        order = order.map { $0 == key ? other : $0 }
        asked = nil
    }

    mutating func remove(_ key: RowKey) {
        rows[key] = nil
        asked = nil
        order.removeAll { $0 == key }
    }

    // MARK: - Questions

    /// The rows a user may see that match all filters, sorted.
    mutating func response(
        _ filters: [QueryItem], sortedBy order: [OrderTerm], to userID: String?
    ) throws(SimulatedRejection) -> [RawJSON] {
        let question = Question(filters: filters, order: order, userID: userID)
        if let asked, asked.question == question { return asked.rows }
        let rows = sorted(try matches(filters, of: userID), by: order)
        asked = (question, rows)
        return rows
    }

    /// The rows a user may see that match all filters.
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

    /// The declared types, and for the rest what the values look like.
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

    /// The rows in the order of the terms; rows they do not tell apart keep their order.
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

    /// A value as `ORDER BY` compares it: numbers by size, everything else by its bytes.
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
