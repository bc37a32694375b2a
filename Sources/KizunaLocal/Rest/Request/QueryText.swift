/// The name and value pairs of a query string or a form, decoded.
enum QueryText {
    static func pairs(_ query: String) throws(RestFailure) -> [(name: String, value: String)] {
        var pairs: [(name: String, value: String)] = []
        for part in query.split(separator: "&") {
            let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = halves.count > 1 ? try decoded(halves[1], plusIsBlank: true) : ""
            pairs.append((try decoded(halves[0], plusIsBlank: true), value))
        }
        return pairs
    }

    /// Percent-decodes; a `%` without two hex digits stands for itself.
    static func decoded(_ text: some StringProtocol, plusIsBlank: Bool) throws(RestFailure) -> String {
        let source = Array(text.utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(source.count)
        var index = 0
        while index < source.count {
            let byte = source[index]
            if byte == UInt8(ascii: "%"), index + 2 < source.count, let high = hexDigit(source[index + 1]),
                let low = hexDigit(source[index + 2])
            {
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(plusIsBlank && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                index += 1
            }
        }
        return try checked(bytes)
    }

    /// Returns the text of these bytes.
    ///
    /// - Throws: 22021 for bytes that are not UTF-8 and for a NUL, which PostgreSQL stores in no text.
    static func checked(_ bytes: [UInt8]) throws(RestFailure) -> String {
        guard let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0) else {
            throw RestFailure(400, "22021", "invalid byte sequence for encoding \"UTF8\"")
        }
        return text
    }

    /// Percent-encodes all but the unreserved characters.
    static func encoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += digits.utf8.count == 1 ? "%0" + digits : "%" + digits
            }
        }
        return encoded
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
