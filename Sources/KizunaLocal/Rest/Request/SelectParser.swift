/// Reads `select=`.
package enum SelectParser {
    /// Embedded selections nest at most this deep, so that a hostile request cannot exhaust the stack.
    private static let depthLimit = 64

    package static func parse(_ text: String) throws(RestFailure) -> [SelectItem] {
        var cursor = TextCursor(text)
        do throws(TextCursor.Fault) {
            let items = try items(&cursor, depth: 0)
            guard cursor.isAtEnd else { throw cursor.fault(expecting: "\",\" or end of input") }
            return items
        } catch {
            throw .unreadable("select parameter", text, at: error.position, error.details)
        }
    }

    /// Items up to the end or to `)`; none at all is allowed.
    private static func items(_ cursor: inout TextCursor, depth: Int) throws(TextCursor.Fault) -> [SelectItem] {
        if cursor.isAtEnd || cursor.isAt(")") { return [] }
        var items: [SelectItem] = []
        repeat {
            cursor.skipBlanks()
            items.append(try item(&cursor, depth))
            cursor.skipBlanks()
        } while cursor.take(",")
        return items
    }

    private static func item(_ cursor: inout TextCursor, _ depth: Int) throws(TextCursor.Fault) -> SelectItem {
        if cursor.take("...") { return try embed(&cursor, alias: nil, isSpread: true, depth) }
        if cursor.isAt("*") {
            _ = cursor.take("*")
            try end(cursor)
            return .all
        }
        let alias = cursor.attempt { (cursor: inout TextCursor) throws(TextCursor.Fault) in
            let name = try cursor.name()
            guard cursor.isAt(":"), !cursor.isAt("::") else { throw cursor.fault(expecting: "\":\"") }
            try cursor.expect(":")
            return name
        }
        if cursor.take("count()") {
            let cast = cursor.take("::") ? try cursor.word() : nil
            try end(cursor)
            return .aggregate(function: "count", nil, cast: nil, resultCast: cast, alias: alias)
        }
        if isEmbed(cursor) { return try embed(&cursor, alias: alias, isSpread: false, depth) }
        return try column(&cursor, alias: alias)
    }

    /// Whether `name(` or `name!hint(` stands here.
    private static func isEmbed(_ cursor: TextCursor) -> Bool {
        var ahead = cursor
        let found: Bool? = ahead.attempt { (ahead: inout TextCursor) throws(TextCursor.Fault) in
            _ = try ahead.name()
            try embedMarks(&ahead)
            try ahead.expect("(")
            return true
        }
        return found == true
    }

    private static func embed(
        _ cursor: inout TextCursor, alias: String?, isSpread: Bool, _ depth: Int
    ) throws(TextCursor.Fault) -> SelectItem {
        let name = try cursor.name()
        try embedMarks(&cursor)
        try cursor.expect("(")
        guard depth < depthLimit else { throw cursor.fault(expecting: "fewer levels") }
        let children = try items(&cursor, depth: depth + 1)
        try cursor.expect(")")
        return .embed(name: name, alias: alias, isSpread: isSpread, children)
    }

    /// `!hint` and `!inner`, in any order.
    private static func embedMarks(_ cursor: inout TextCursor) throws(TextCursor.Fault) {
        for _ in 0..<2 where cursor.take("!") { _ = try cursor.name() }
    }

    private static func column(_ cursor: inout TextCursor, alias: String?) throws(TextCursor.Fault) -> SelectItem {
        let field = try cursor.field()
        let cast = cursor.take("::") ? try cursor.word() : nil
        if cursor.take(".") {
            guard let function = ["sum", "avg", "count", "max", "min"].first(where: { cursor.isAt($0 + "()") }) else {
                throw cursor.fault(expecting: "\"sum\", \"avg\", \"count\", \"max\" or \"min\"")
            }
            try cursor.expect(function + "()")
            let resultCast = cursor.take("::") ? try cursor.word() : nil
            try end(cursor)
            return .aggregate(function: function, field, cast: cast, resultCast: resultCast, alias: alias)
        }
        try end(cursor)
        return .field(field, cast: cast, alias: alias)
    }

    private static func end(_ cursor: TextCursor) throws(TextCursor.Fault) {
        var cursor = cursor
        cursor.skipBlanks()
        guard cursor.isAtEnd || cursor.isAt(",") || cursor.isAt(")") else {
            throw cursor.fault(expecting: "\"->>\", \"->\", \"::\", \")\", \",\" or end of input")
        }
    }
}
