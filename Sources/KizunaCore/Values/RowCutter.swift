/// Cuts a server answer into rows by a scan of its bytes, without decoding them (design §2.8).
package struct RowCutter: Sendable {
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

    /// The rows of a body that must be one JSON array of objects.
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
        guard try scanner.peek() == UInt8(ascii: "[") else { throw .wrongKind }
        try scanner.expect(UInt8(ascii: "["))
        if try !scanner.take(UInt8(ascii: "]")) {
            repeat { rows.append(try row(&scanner, bytes)) } while try scanner.take(UInt8(ascii: ","))
            try scanner.expect(UInt8(ascii: "]"))
        }
        scanner.skipWhitespace()
        guard scanner.isAtEnd else { throw .unexpected(offset: scanner.offset) }
        return rows
    }

    private func row(_ scanner: inout JSONScanner, _ bytes: UnsafeBufferPointer<UInt8>) throws(JSONFault) -> CutRow {
        guard try scanner.peek() == UInt8(ascii: "{") else { throw .wrongKind }
        let start = scanner.offset
        var found = [String?](repeating: nil, count: keyNames.count)
        try scanner.expect(UInt8(ascii: "{"))
        if try !scanner.take(UInt8(ascii: "}")) {
            repeat {
                let name = try scanner.string()
                try scanner.expect(UInt8(ascii: ":"))
                let value = try scanner.value(depth: 1)
                for (index, keyName) in keyNames.enumerated() where Self.names(bytes[name], keyName) {
                    found[index] = RawJSON(unchecked: Array(bytes[value])).scalarText
                }
            } while try scanner.take(UInt8(ascii: ","))
            try scanner.expect(UInt8(ascii: "}"))
        }
        let components = found.compactMap { $0 }
        let key = components.count == keyNames.count && !components.isEmpty ? RowKey(components: components) : nil
        return CutRow(range: start..<scanner.offset, key: key)
    }

    /// Whether a name, given with its quotes, is this one. JSON may write any character as an escape.
    private static func names(_ name: Slice<UnsafeBufferPointer<UInt8>>, _ keyName: KeyName) -> Bool {
        if keyName.quoted.elementsEqual(name) { return true }
        guard name.contains(UInt8(ascii: "\\")) else { return false }
        return JSONScanner.unescaped(UnsafeBufferPointer(rebasing: name)).utf8.elementsEqual(keyName.bytes)
    }
}
