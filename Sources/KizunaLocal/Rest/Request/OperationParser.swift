/// Reads what stands after a column's name: `eq.5`, `not.in.(1,2)`, `fts(english).cat`.
struct OperationParser {
    /// How a plain value ends: at the end of the text, or at `,` and `)` inside a logic tree.
    let isInsideTree: Bool

    private static let quantified = [
        "eq": "=", "gte": ">=", "gt": ">", "lte": "<=", "lt": "<", "like": "LIKE", "ilike": "ILIKE", "match": "~",
        "imatch": "~*",
    ]
    private static let simple = [
        "neq": "<>", "cs": "@>", "cd": "<@", "ov": "&&", "sl": "<<", "sr": ">>", "nxr": "&<", "nxl": "&>", "adj": "-|-",
    ]
    private static let searches = [
        "fts": "to_tsquery", "plfts": "plainto_tsquery", "phfts": "phraseto_tsquery", "wfts": "websearch_to_tsquery",
    ]
    /// Longer words come first where one begins with another.
    private static let words = [
        ("not_null", "NOT NULL"), ("null", "NULL"), ("true", "TRUE"), ("false", "FALSE"), ("unknown", "UNKNOWN"),
    ]

    func parse(_ cursor: inout TextCursor) throws(TextCursor.Fault) -> (isNegated: Bool, Operation) {
        let start = cursor
        let isNegated = cursor.take("not.")
        do throws(TextCursor.Fault) {
            return (isNegated, try operation(&cursor))
        } catch {
            // An unknown operator is reported where it begins, as the server does.
            guard error.details.isEmpty else { throw error }
            throw (isNegated ? cursor : start).fault(
                expecting: isNegated ? "operator (eq, gt, ...)" : "\"not\" or operator (eq, gt, ...)")
        }
    }

    private static let unknownOperator = TextCursor.Fault(position: 0, details: "")

    private func operation(_ cursor: inout TextCursor) throws(TextCursor.Fault) -> Operation {
        let start = cursor
        let word = cursor.take { "a"..."z" ~= $0 }
        if cursor.take(".") {
            switch word {
            case "in": return .oneOf(try list(&cursor))
            case "is": return .isWord(try isWord(&cursor))
            case "isdistinct": return .isDistinct(value(&cursor))
            default: break
            }
            if let sql = Self.quantified[word] ?? Self.simple[word] { return .compare(sql: sql, nil, value(&cursor)) }
            if let function = Self.searches[word] {
                return .search(function: function, language: nil, value(&cursor))
            }
        } else if let sql = Self.quantified[word] {
            let quantifier: Operation.Quantifier? = cursor.take("(any).") ? .any : cursor.take("(all).") ? .all : nil
            if let quantifier { return .compare(sql: sql, quantifier, value(&cursor)) }
        } else if let function = Self.searches[word], cursor.take("(") {
            let language = cursor.attempt { (cursor: inout TextCursor) throws(TextCursor.Fault) in try cursor.word() }
            if let language, cursor.take(").") {
                return .search(function: function, language: language, value(&cursor))
            }
        }
        cursor = start
        throw Self.unknownOperator
    }

    private func isWord(_ cursor: inout TextCursor) throws(TextCursor.Fault) -> String {
        for (word, sql) in Self.words {
            let found: Bool? = cursor.attempt { (cursor: inout TextCursor) throws(TextCursor.Fault) in
                for wanted in word.unicodeScalars {
                    guard try cursor.takeAny().properties.lowercaseMapping == String(wanted) else {
                        throw Self.unknownOperator
                    }
                }
                guard cursor.isAtEnd || isInsideTree else { throw Self.unknownOperator }
                return true
            }
            if found == true { return sql }
        }
        throw cursor.fault(expecting: "isVal: (null, not_null, true, false, unknown)")
    }

    /// `(a,"b,c",d)`
    private func list(_ cursor: inout TextCursor) throws(TextCursor.Fault) -> [String] {
        cursor.skipBlanks()
        try cursor.expect("(")
        cursor.skipBlanks()
        var members: [String] = []
        repeat {
            members.append(quotedValue(&cursor) ?? cursor.take { $0 != "," && $0 != ")" })
        } while cursor.take(",")
        cursor.skipBlanks()
        try cursor.expect(")")
        cursor.skipBlanks()
        return members
    }

    private func value(_ cursor: inout TextCursor) -> String {
        guard isInsideTree else { return cursor.takeRest() }
        if let quoted = quotedValue(&cursor) { return quoted }
        // An array without arrays inside is taken whole, commas and all.
        let array = cursor.attempt { (cursor: inout TextCursor) throws(TextCursor.Fault) in
            try cursor.expect("{")
            let inner = cursor.take { $0 != "{" && $0 != "}" }
            try cursor.expect("}")
            return "{" + inner + "}"
        }
        return array ?? cursor.take { $0 != "," && $0 != ")" }
    }

    /// A quoted text that is the whole value.
    private func quotedValue(_ cursor: inout TextCursor) -> String? {
        cursor.attempt { (cursor: inout TextCursor) throws(TextCursor.Fault) in
            let text = try cursor.quoted()
            guard cursor.isAtEnd || cursor.isAt(",") || cursor.isAt(")") else {
                throw cursor.fault(expecting: "\",\" or \")\"")
            }
            return text
        }
    }
}
