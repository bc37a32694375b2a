/// Reads `(a.eq.1,or(b.gt.2,c.is.null))` after `and=`, `or=`, `not.and=`, `not.or=`.
enum LogicParser {
    /// Deep enough for any client, shallow enough for the stack.
    private static let depthLimit = 64

    static func parse(operator name: String, isNegated: Bool, _ text: String) throws(RestFailure) -> LogicTree {
        var cursor = TextCursor(name + text)
        do throws(TextCursor.Fault) {
            let tree = try tree(&cursor, depth: 0)
            guard cursor.isAtEnd else { throw cursor.fault(expecting: "end of input") }
            guard case .group(_, let isAnd, let children) = tree else {
                throw TextCursor.Fault(position: name.count + 1, details: "expecting \"(\"")
            }
            return .group(isNegated: isNegated, isAnd: isAnd, children)
        } catch {
            throw .unreadable("logic tree", text, at: error.position, error.details)
        }
    }

    private static func tree(_ cursor: inout TextCursor, depth: Int) throws(TextCursor.Fault) -> LogicTree {
        let condition = cursor.attempt { (cursor: inout TextCursor) throws(TextCursor.Fault) in
            try Self.condition(&cursor)
        }
        if let condition { return .condition(condition) }
        guard depth < depthLimit else { throw cursor.fault(expecting: "fewer levels") }
        let isNegated = cursor.take("not.")
        let isAnd = cursor.take("and")
        guard isAnd || cursor.take("or") else {
            throw cursor.fault(expecting: "field name, negation operator (not) or logic operator (and, or)")
        }
        cursor.skipBlanks()
        try cursor.expect("(")
        var children: [LogicTree] = []
        repeat {
            cursor.skipBlanks()
            children.append(try tree(&cursor, depth: depth + 1))
            cursor.skipBlanks()
        } while cursor.take(",")
        try cursor.expect(")")
        cursor.skipBlanks()
        return .group(isNegated: isNegated, isAnd: isAnd, children)
    }

    private static func condition(_ cursor: inout TextCursor) throws(TextCursor.Fault) -> Condition {
        let field = try cursor.field()
        try cursor.expect(".")
        let (isNegated, operation) = try OperationParser(isInsideTree: true).parse(&cursor)
        return Condition(field: field, isNegated: isNegated, operation: operation)
    }
}
