/// Texts in a request: percent-encoding and the two kinds of quoting.
package enum WireText {
    /// Percent-encodes everything except letters, digits and `-._~/?`, as supabase-swift does for a query.
    package static func queryEncoded(_ text: String) -> String {
        encoded(text, keeping: { isUnreserved($0) || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") })
    }

    /// Percent-encodes one path segment; a table name cannot address another path.
    package static func pathEncoded(_ text: String) -> String {
        encoded(text, keeping: isUnreserved)
    }

    /// A member of `in.(…)`: in quotes if it contains a delimiter, a quote, a backslash, or blanks at an end.
    package static func listMember(_ text: String) -> String {
        let special: Set<Unicode.Scalar> = [",", "(", ")", "\"", "\\"]
        guard text.unicodeScalars.contains(where: special.contains) || hasEdgeBlanks(text) else { return text }
        return quoted(text)
    }

    /// An element of an array literal `{…}`: in quotes if it is empty, spells NULL, or contains a delimiter.
    static func arrayElement(_ text: String) -> String {
        let special: Set<Unicode.Scalar> = [",", "{", "}", "\"", "\\"]
        let isPlain =
            !text.isEmpty && text.lowercased() != "null" && !hasEdgeBlanks(text)
            && !text.unicodeScalars.contains(where: special.contains)
        return isPlain ? text : quoted(text)
    }

    /// The select list without white space outside quotes.
    static func selectList(_ columns: String) -> String {
        var cleaned = String.UnicodeScalarView()
        var isQuoted = false
        for scalar in columns.unicodeScalars {
            if scalar.properties.isWhitespace, !isQuoted { continue }
            if scalar == "\"" { isQuoted.toggle() }
            cleaned.append(scalar)
        }
        return String(cleaned)
    }

    /// Whether two texts have the same bytes. `==` of `String` also equates different Unicode compositions.
    package static func areSame(_ lhs: String, _ rhs: String) -> Bool {
        lhs.utf8.elementsEqual(rhs.utf8)
    }

    /// The name of a column in a request: in quotes unless it is a plain word.
    package static func columnName(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isPlain && !name.isEmpty ? name : quoted(name)
    }

    /// Returns the names of a list such as that of `on_conflict`, without quotes and surrounding blanks.
    package static func names(_ list: String) -> [String] {
        WireSplit.topLevel(list, at: ",").map(WireCursor.trimmed).filter { !$0.isEmpty }.map { piece in
            var cursor = WireCursor(piece)
            if let name = cursor.quoted(), cursor.isAtEnd { return name }
            return piece
        }
    }

    /// Returns the text in double quotes, with `\"` and `\\` escaped.
    static func quoted(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        result.append("\"")
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { result.append("\\") }
            result.append(scalar)
        }
        result.append("\"")
        return String(result)
    }

    private static func hasEdgeBlanks(_ text: String) -> Bool {
        func isBlank(_ scalar: Unicode.Scalar?) -> Bool {
            guard let scalar else { return false }
            return scalar == "\t" || scalar.properties.generalCategory == .spaceSeparator
        }
        return isBlank(text.unicodeScalars.first) || isBlank(text.unicodeScalars.last)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func encoded(_ text: String, keeping isKept: (UInt8) -> Bool) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isKept(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
