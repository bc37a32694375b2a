/// The query string of a REST request, read.
package struct RestQuery: Sendable, Equatable {
    package var select: [SelectItem] = []
    /// All conditions; they are joined by `and`.
    package var filters: [LogicTree] = []
    /// The plain `column=op.value` conditions among `filters`, for PUT.
    package var plainFilters: [Condition] = []
    package var order: [OrderTerm] = []
    package var limit: Int?
    package var offset: Int?
    package var columns: [String]?
    package var onConflict: [String]?
    /// Whether a condition, order or limit is for an embedded resource: the first such name.
    package var embeddedName: String?

    package static func parse(_ text: String) throws(RestFailure) -> RestQuery {
        var query = RestQuery()
        let pairs = try QueryText.pairs(text)
        if let select = pairs.first(where: { $0.name == "select" }) {
            query.select = try SelectParser.parse(select.value)
        }
        if let columns = pairs.first(where: { $0.name == "columns" }) {
            query.columns = try names(columns.value, "columns parameter")
        }
        if let conflict = pairs.first(where: { $0.name == "on_conflict" }) {
            query.onConflict = try names(conflict.value, "on_conflict parameter")
        }
        for pair in pairs where !["select", "columns", "on_conflict"].contains(pair.name) {
            try query.take(pair.name, pair.value)
        }
        return query
    }

    private mutating func take(_ name: String, _ value: String) throws(RestFailure) {
        let (path, field) = try Self.treePath(name)
        let parents = path.filter { $0 != "not" }
        switch field.path.isEmpty ? field.name : "" {
        case "and", "or":
            let tree = try LogicParser.parse(operator: field.name, isNegated: path.contains("not"), value)
            if parents.isEmpty { filters.append(tree) }
        case "order":
            let terms = try OrderParser.parse(value)
            if path.isEmpty { order = terms }
        case "limit":
            if path.isEmpty { limit = try Self.integer(value) ?? limit }
        case "offset":
            if path.isEmpty { offset = try Self.integer(value) ?? offset }
        default:
            var cursor = TextCursor(value)
            let condition: Condition
            do throws(TextCursor.Fault) {
                let (isNegated, operation) = try OperationParser(isInsideTree: false).parse(&cursor)
                guard cursor.isAtEnd else { throw cursor.fault(expecting: "end of input") }
                condition = Condition(field: field, isNegated: isNegated, operation: operation)
            } catch {
                throw .unreadable("filter", value, at: error.position, error.details)
            }
            if path.isEmpty {
                filters.append(.condition(condition))
                plainFilters.append(condition)
            } else {
                embeddedName = embeddedName ?? path.first
            }
            return
        }
        embeddedName = embeddedName ?? parents.first
    }

    /// `a.b.column->key`: the names before the last one, and the last one.
    private static func treePath(_ text: String) throws(RestFailure) -> ([String], Field) {
        var cursor = TextCursor(text)
        do throws(TextCursor.Fault) {
            var names = [try cursor.name()]
            while cursor.take(".") { names.append(try cursor.name()) }
            let path = try cursor.jsonPath()
            guard cursor.isAtEnd else { throw cursor.fault(expecting: "\"->>\", \"->\" or end of input") }
            return (Array(names.dropLast()), Field(name: names[names.count - 1], path: path))
        } catch {
            throw .unreadable("tree path", text, at: error.position, error.details)
        }
    }

    private static func names(_ text: String, _ what: String) throws(RestFailure) -> [String] {
        var cursor = TextCursor(text)
        do throws(TextCursor.Fault) {
            var names: [String] = []
            repeat {
                cursor.skipBlanks()
                names.append(try cursor.name())
                cursor.skipBlanks()
            } while cursor.take(",")
            guard cursor.isAtEnd else { throw cursor.fault(expecting: "\",\" or end of input") }
            return names
        } catch {
            throw .unreadable(what, text, at: error.position, error.details)
        }
    }

    /// Returns nil for a text that is no number, and the smallest integer for a number below the range of `Int`.
    ///
    /// - Throws: 22003, as PostgreSQL answers a number above the range of `bigint`.
    private static func integer(_ text: String) throws(RestFailure) -> Int? {
        if let value = Int(text) { return value }
        let isNegative = text.hasPrefix("-")
        let digits = isNegative ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
            return nil
        }
        guard isNegative else { throw RestFailure(400, "22003", "bigint out of range") }
        return Int.min
    }
}
