/// One term of an `order` parameter.
package struct OrderTerm: Sendable, Hashable {
    /// The column's name, or the whole text of a JSON path or of a referenced table's column.
    package let column: String
    package let ascending: Bool
    package let nullsFirst: Bool
    /// Whether the term is a column of the table itself, without a JSON path.
    package let isPlainColumn: Bool

    package init(column: String, ascending: Bool = true, nullsFirst: Bool? = nil, isPlainColumn: Bool = true) {
        self.column = column
        self.ascending = ascending
        self.nullsFirst = nullsFirst ?? !ascending
        self.isPlainColumn = isPlainColumn
    }

    /// Parses the value of an `order` parameter. Without `nullsfirst` or `nullslast`, PostgreSQL's default applies.
    static func terms(of value: String) -> [OrderTerm] {
        WireSplit.topLevel(value, at: ",").map { piece in
            var words = WireSplit.topLevel(piece, at: ".")
            var nullsFirst: Bool?
            var ascending = true
            if words.count > 1, let last = words.last, last == "nullsfirst" || last == "nullslast" {
                nullsFirst = last == "nullsfirst"
                words.removeLast()
            }
            if words.count > 1, let last = words.last, last == "asc" || last == "desc" {
                ascending = last == "asc"
                words.removeLast()
            }
            let text = words.joined(separator: ".")
            if let path = ColumnPath(parsing: text), path.steps.isEmpty, path.embeds.isEmpty {
                return OrderTerm(column: path.column, ascending: ascending, nullsFirst: nullsFirst)
            }
            return OrderTerm(column: text, ascending: ascending, nullsFirst: nullsFirst, isPlainColumn: false)
        }
    }
}

/// Splits parameter texts outside quotes and parentheses.
enum WireSplit {
    /// Returns the pieces between the separators that are outside double quotes and parentheses.
    static func topLevel(_ text: String, at separator: Unicode.Scalar) -> [String] {
        var pieces = [String.UnicodeScalarView()]
        var isQuoted = false
        var isEscaped = false
        var depth = 0
        for scalar in text.unicodeScalars {
            if scalar == separator, !isQuoted, depth == 0 {
                pieces.append(String.UnicodeScalarView())
                continue
            }
            switch scalar {
            case "\"" where !isEscaped: isQuoted.toggle()
            case "(" where !isQuoted: depth += 1
            case ")" where !isQuoted: depth -= 1
            default: break
            }
            isEscaped = isQuoted && scalar == "\\" && !isEscaped
            pieces[pieces.count - 1].append(scalar)
        }
        return pieces.map(String.init)
    }
}
