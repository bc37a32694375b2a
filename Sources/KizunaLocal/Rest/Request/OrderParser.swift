/// Reads `order=a.desc.nullslast,b`.
enum OrderParser {
    static func parse(_ text: String) throws(RestFailure) -> [OrderTerm] {
        var cursor = TextCursor(text)
        do throws(TextCursor.Fault) {
            var terms: [OrderTerm] = []
            repeat {
                cursor.skipBlanks()
                terms.append(try term(&cursor))
                cursor.skipBlanks()
            } while cursor.take(",")
            guard cursor.isAtEnd else { throw cursor.fault(expecting: "\",\" or end of input") }
            return terms
        } catch {
            throw .unreadable("order", text, at: error.position, error.details)
        }
    }

    private static func term(_ cursor: inout TextCursor) throws(TextCursor.Fault) -> OrderTerm {
        let related = cursor.attempt { (cursor: inout TextCursor) throws(TextCursor.Fault) in
            let name = try cursor.name()
            try cursor.expect("(")
            let field = try cursor.field()
            try cursor.expect(")")
            return (name, field)
        }
        let field: Field
        if let related { field = related.1 } else { field = try cursor.field() }
        let isDescending: Bool? = cursor.take(".asc") ? false : cursor.take(".desc") ? true : nil
        let nulls: OrderTerm.Nulls? = cursor.take(".nullsfirst") ? .first : cursor.take(".nullslast") ? .last : nil
        guard cursor.isAtEnd || cursor.isAt(",") || cursor.isAt(" ") else {
            if nulls != nil, let next = cursor.next {
                // Nothing but the next term may follow; PostgREST names the character in single quotes.
                throw TextCursor.Fault(
                    position: cursor.index + 1, details: "unexpected '\(next)' expecting \",\" or end of input")
            }
            throw cursor.fault(expecting: "\"asc\", \"desc\", \"nullsfirst\" or \"nullslast\"")
        }
        return OrderTerm(relation: related?.0, field: field, isDescending: isDescending, nulls: nulls)
    }
}
