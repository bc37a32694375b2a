/// One-dimensional array literals: `{a,"b c",NULL}`.
enum ArrayLiteral {
    /// Returns the texts of the elements, nil for NULL. Any text but a one-dimensional literal is undecided.
    static func elements(_ text: String) -> Reading<[String?]> {
        var cursor = WireCursor(WireCursor.trimmed(text))
        guard cursor.take("{") else { return .undecided }
        skipSpace(&cursor)
        var elements: [String?] = []
        if cursor.take("}") { return cursor.isAtEnd ? .value([]) : .undecided }
        repeat {
            skipSpace(&cursor)
            guard let element = element(&cursor) else { return .undecided }
            elements.append(element)
            skipSpace(&cursor)
        } while cursor.take(",")
        guard cursor.take("}"), cursor.isAtEnd else { return .undecided }
        return .value(elements)
    }

    /// Reads one element; the outer nil means that the literal is malformed or has more dimensions.
    private static func element(_ cursor: inout WireCursor) -> String?? {
        if cursor.next == "\"" { return cursor.quoted().map { .some($0) } }
        var scalars = String.UnicodeScalarView()
        var lastKept = 0
        var hasEscape = false
        while let scalar = cursor.next, scalar != ",", scalar != "}" {
            cursor.position += 1
            switch scalar {
            case "{", "\"": return nil
            case "\\":
                guard let escaped = cursor.next else { return nil }
                cursor.position += 1
                scalars.append(escaped)
                hasEscape = true
                lastKept = scalars.count
            default:
                scalars.append(scalar)
                if !isSpace(scalar) { lastKept = scalars.count }
            }
        }
        guard lastKept > 0 else { return nil }
        let text = String(String.UnicodeScalarView(scalars.prefix(lastKept)))
        return .some(!hasEscape && text.lowercased() == "null" ? nil : text)
    }

    private static func skipSpace(_ cursor: inout WireCursor) {
        while let scalar = cursor.next, isSpace(scalar) { cursor.position += 1 }
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || (0x09...0x0D).contains(scalar.value)
    }
}
