/// Why bytes are not the JSON they should be.
package enum JSONFault: Error, Sendable, Equatable {
    /// The bytes end inside a value.
    case truncated
    /// The byte at this offset cannot stand there.
    case unexpected(offset: Int)
    /// Arrays or objects are nested deeper than `JSONScanner.depthLimit`.
    case tooDeep
    /// The value is of another kind than asked for.
    case wrongKind
    /// A string's bytes are not UTF-8.
    case notText
}

/// Walks over JSON text without building values: it finds where values begin and end, and checks the grammar.
package struct JSONScanner {
    package static let depthLimit = 512

    private let bytes: UnsafeBufferPointer<UInt8>
    package private(set) var offset: Int

    package init(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int = 0) {
        self.bytes = bytes
        self.offset = offset
    }

    package var isAtEnd: Bool { offset >= bytes.count }

    /// The next byte that is not white space.
    package mutating func peek() throws(JSONFault) -> UInt8 {
        skipWhitespace()
        guard offset < bytes.count else { throw .truncated }
        return bytes[offset]
    }

    package mutating func skipWhitespace() {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x0A, 0x0D, 0x09: offset += 1
            default: return
            }
        }
    }

    /// Takes this byte, after white space, or throws.
    package mutating func expect(_ byte: UInt8) throws(JSONFault) {
        guard try peek() == byte else { throw .unexpected(offset: offset) }
        offset += 1
    }

    /// Takes this byte, after white space, if it is there.
    package mutating func take(_ byte: UInt8) throws(JSONFault) -> Bool {
        guard try peek() == byte else { return false }
        offset += 1
        return true
    }

    /// Takes one value of any kind and returns where it stands.
    package mutating func value(depth: Int = 0) throws(JSONFault) -> Range<Int> {
        let first = try peek()
        let start = offset
        switch first {
        case UInt8(ascii: "{"):
            guard depth < Self.depthLimit else { throw .tooDeep }
            offset += 1
            if try take(UInt8(ascii: "}")) { return start..<offset }
            repeat {
                _ = try string()
                try expect(UInt8(ascii: ":"))
                _ = try value(depth: depth + 1)
            } while try take(UInt8(ascii: ","))
            try expect(UInt8(ascii: "}"))
        case UInt8(ascii: "["):
            guard depth < Self.depthLimit else { throw .tooDeep }
            offset += 1
            if try take(UInt8(ascii: "]")) { return start..<offset }
            repeat { _ = try value(depth: depth + 1) } while try take(UInt8(ascii: ","))
            try expect(UInt8(ascii: "]"))
        case UInt8(ascii: "\""): return try string()
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        default: try number()
        }
        return start..<offset
    }

    /// Takes a string, quotes included.
    package mutating func string() throws(JSONFault) -> Range<Int> {
        try expect(UInt8(ascii: "\""))
        let start = offset - 1
        while true {
            offset = ByteWords.endOfPlainText(in: bytes, from: offset)
            guard offset < bytes.count else { throw .truncated }
            let byte = bytes[offset]
            offset += 1
            if byte == UInt8(ascii: "\"") { return start..<offset }
            guard byte == UInt8(ascii: "\\") else { throw .unexpected(offset: offset - 1) }
            try escape()
        }
    }

    private mutating func escape() throws(JSONFault) {
        guard offset < bytes.count else { throw .truncated }
        let byte = bytes[offset]
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return
        case UInt8(ascii: "u"):
            for _ in 0..<4 {
                guard offset < bytes.count else { throw .truncated }
                guard Self.hexValue(bytes[offset]) != nil else { throw .unexpected(offset: offset) }
                offset += 1
            }
        default: throw .unexpected(offset: offset - 1)
        }
    }

    private mutating func word(_ word: StaticString) throws(JSONFault) {
        for index in 0..<word.utf8CodeUnitCount {
            guard offset < bytes.count else { throw .truncated }
            guard bytes[offset] == word.utf8Start[index] else { throw .unexpected(offset: offset) }
            offset += 1
        }
    }

    private mutating func number() throws(JSONFault) {
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "-") { offset += 1 }
        guard offset < bytes.count else { throw .truncated }
        if bytes[offset] == UInt8(ascii: "0") { offset += 1 } else { try digits() }
        if offset < bytes.count, bytes[offset] == UInt8(ascii: ".") {
            offset += 1
            try digits()
        }
        if offset < bytes.count, bytes[offset] | 0x20 == UInt8(ascii: "e") {
            offset += 1
            if offset < bytes.count, bytes[offset] == UInt8(ascii: "+") || bytes[offset] == UInt8(ascii: "-") {
                offset += 1
            }
            try digits()
        }
    }

    private mutating func digits() throws(JSONFault) {
        let start = offset
        while offset < bytes.count, bytes[offset] >= UInt8(ascii: "0"), bytes[offset] <= UInt8(ascii: "9") {
            offset += 1
        }
        guard offset > start else {
            throw offset < bytes.count ? .unexpected(offset: offset) : .truncated
        }
    }

    package static func hexValue(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    /// The text of a JSON string given with its quotes; a lone surrogate becomes U+FFFD.
    package static func unescaped(_ quoted: UnsafeBufferPointer<UInt8>) -> String {
        let inner = quoted[(quoted.startIndex + 1)..<(quoted.endIndex - 1)]
        guard inner.contains(UInt8(ascii: "\\")) else { return String(decoding: inner, as: UTF8.self) }
        var text: [UInt8] = []
        text.reserveCapacity(inner.count)
        var index = inner.startIndex
        func unit(_ at: Int) -> UInt32 {
            var value: UInt32 = 0
            for position in at..<(at + 4) { value = value << 4 | (hexValue(quoted[position]) ?? 0) }
            return value
        }
        while index < inner.endIndex {
            let byte = inner[index]
            index += 1
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            let mark = inner[index]
            index += 1
            switch mark {
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"):
                var scalar = unit(index)
                index += 4
                if 0xD800...0xDBFF ~= scalar, index + 6 <= inner.endIndex, inner[index] == UInt8(ascii: "\\"),
                    inner[index + 1] == UInt8(ascii: "u"), 0xDC00...0xDFFF ~= unit(index + 2)
                {
                    scalar = 0x10000 + (scalar - 0xD800) << 10 + (unit(index + 2) - 0xDC00)
                    index += 6
                }
                text.append(contentsOf: String(Unicode.Scalar(scalar) ?? "\u{FFFD}").utf8)
            default: text.append(mark)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
