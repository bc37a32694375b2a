/// UUIDs in the spellings that PostgreSQL accepts: any case, braces, a dash after any four digits.
enum UUIDText {
    /// Returns the sixteen bytes; nil for a text that PostgreSQL rejects.
    static func bytes(_ text: String) -> [UInt8]? {
        var rest = Array(text.utf8)[...]
        if rest.first == UInt8(ascii: "{") {
            guard rest.last == UInt8(ascii: "}") else { return nil }
            rest = rest.dropFirst().dropLast()
        }
        var bytes: [UInt8] = []
        while bytes.count < 16 {
            guard let high = rest.popFirst().flatMap(HexText.value), let low = rest.popFirst().flatMap(HexText.value)
            else { return nil }
            bytes.append(high << 4 | low)
            if bytes.count % 2 == 0, bytes.count < 16, rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        }
        return rest.isEmpty ? bytes : nil
    }

    /// Whether a text is a UUID in the spelling of PostgreSQL output.
    static func isCanonical(_ text: String) -> Bool {
        text.utf8.count == 36 && bytes(text) != nil && WireText.areSame(text.lowercased(), text)
    }
}

/// Hexadecimal digits.
enum HexText {
    static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Returns the bytes of `\xDEADBEEF`; nil for any other spelling of a `bytea`.
    static func bytes(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2), digits.starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "x")]) else {
            return nil
        }
        var bytes: [UInt8] = []
        for at in stride(from: 2, to: digits.count, by: 2) {
            guard let high = value(digits[at]), let low = value(digits[at + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
