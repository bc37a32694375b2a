/// Cuts a server answer into rows by a scan of its bytes, without decoding them (docs/spec/reads.md, Rows stay as
/// bytes).
package struct JSONArraySplitter: Sendable {
    /// One row of an answer: where it stands in the body, and its key.
    package struct CutRow: Sendable, Equatable {
        package let range: Range<Int>
        /// Nil where a key column is absent or null.
        package let key: RowKey?
    }

    /// A key column's name: as it is usually written in JSON, and its own bytes.
    private struct KeyName {
        let quoted: [UInt8]
        let bytes: [UInt8]
    }

    private let keyNames: [KeyName]

    package init(keyColumns: [String]) {
        keyNames = keyColumns.map { KeyName(quoted: RawJSON(string: $0).bytes, bytes: Array($0.utf8)) }
    }

    /// The rows of a body that must be one JSON array of objects. Bytes that are no text are refused: no decoder takes them.
    package func rows(of body: [UInt8]) throws(JSONFault) -> [CutRow] {
        let outcome = body.withUnsafeBufferPointer { buffer -> Result<[CutRow], JSONFault> in
            do throws(JSONFault) {
                return .success(try rows(of: buffer))
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    private func rows(of bytes: UnsafeBufferPointer<UInt8>) throws(JSONFault) -> [CutRow] {
        var scanner = JSONScanner(bytes)
        var rows: [CutRow] = []
        var found = [Range<Int>?](repeating: nil, count: keyNames.count)
        guard try scanner.peek() == UInt8(ascii: "[") else { throw .wrongKind }
        try scanner.expect(UInt8(ascii: "["))
        if try !scanner.take(UInt8(ascii: "]")) {
            repeat {
                rows.append(try row(&scanner, bytes, &found))
                // The rows of an answer are much alike, so the first one tells how many there will be.
                if rows.count == 1, let first = rows.first {
                    rows.reserveCapacity(min(1 << 20, bytes.count / max(1, first.range.count)))
                }
            } while try scanner.take(UInt8(ascii: ","))
            try scanner.expect(UInt8(ascii: "]"))
        }
        scanner.skipWhitespace()
        guard scanner.isAtEnd else { throw .unexpected(offset: scanner.offset) }
        return rows
    }

    /// `found` is room to work in, so that not each row needs its own.
    private func row(
        _ scanner: inout JSONScanner, _ bytes: UnsafeBufferPointer<UInt8>, _ found: inout [Range<Int>?]
    ) throws(JSONFault) -> CutRow {
        guard try scanner.peek() == UInt8(ascii: "{") else { throw .wrongKind }
        let start = scanner.offset
        for index in found.indices { found[index] = nil }
        try scanner.expect(UInt8(ascii: "{"))
        if try !scanner.take(UInt8(ascii: "}")) {
            repeat {
                let name = try scanner.string()
                try scanner.expect(UInt8(ascii: ":"))
                let value = try scanner.value(depth: 1)
                let quoted = UnsafeBufferPointer(rebasing: bytes[name])
                for index in keyNames.indices where Self.names(quoted, keyNames[index]) { found[index] = value }
            } while try scanner.take(UInt8(ascii: ","))
            try scanner.expect(UInt8(ascii: "}"))
        }
        let row = UnsafeBufferPointer(rebasing: bytes[start..<scanner.offset])
        guard ByteWords.areASCII(UnsafeRawBufferPointer(row)) || String(validating: row, as: UTF8.self) != nil else {
            throw .notText
        }
        return CutRow(range: start..<scanner.offset, key: Self.key(of: found, bytes))
    }

    private static func key(of found: [Range<Int>?], _ bytes: UnsafeBufferPointer<UInt8>) -> RowKey? {
        if found.count == 1, let value = found[0], let inner = plainText(bytes[value]) {
            return RowKey(component: inner)
        }
        var components: [String] = []
        for value in found {
            guard let value, let text = RawJSON(unchecked: Array(bytes[value])).scalarText else { return nil }
            components.append(text)
        }
        return components.isEmpty ? nil : RowKey(components: components)
    }

    /// The text of a string without escapes, or of a number; nil for everything else.
    private static func plainText(_ value: Slice<UnsafeBufferPointer<UInt8>>) -> UnsafeBufferPointer<UInt8>? {
        let value = UnsafeBufferPointer(rebasing: value)
        guard let first = value.first else { return nil }
        switch first {
        case UInt8(ascii: "\""):
            let inner = UnsafeBufferPointer(rebasing: value[1..<(value.count - 1)])
            return inner.contains(UInt8(ascii: "\\")) ? nil : inner
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return value
        default: return nil
        }
    }

    /// Whether a name, given with its quotes, is this one. JSON may write any character as an escape.
    private static func names(_ name: UnsafeBufferPointer<UInt8>, _ keyName: KeyName) -> Bool {
        if keyName.quoted.withUnsafeBytes({ ByteWords.areEqual($0, UnsafeRawBufferPointer(name)) }) { return true }
        guard name.contains(UInt8(ascii: "\\")) else { return false }
        return JSONScanner.unescaped(name).utf8.elementsEqual(keyName.bytes)
    }
}
