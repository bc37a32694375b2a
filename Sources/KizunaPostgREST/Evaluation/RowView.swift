package import KizunaCore

/// The members of a row, parsed once for all filters.
package struct RowView: Sendable {
    private let bytes: [UInt8]
    private let members: [(name: Range<Int>, value: Range<Int>)]

    /// Parses one JSON object; any other value is a row without columns.
    package init(_ row: RawJSON) {
        bytes = row.bytes
        members =
            (try? row.bytes.scanning { (scanner: inout JSONScanner) throws(JSONFault) in
                var members: [(name: Range<Int>, value: Range<Int>)] = []
                try scanner.expect(UInt8(ascii: "{"))
                if try scanner.take(UInt8(ascii: "}")) { return members }
                repeat {
                    let name = try scanner.string()
                    try scanner.expect(UInt8(ascii: ":"))
                    members.append((name, try scanner.value(depth: 1)))
                } while try scanner.take(UInt8(ascii: ","))
                try scanner.expect(UInt8(ascii: "}"))
                return members
            }) ?? []
    }

    /// Returns the value of a column, the last one of a repeated name; nil if the row does not have the column.
    package subscript(column: String) -> RawJSON? {
        members.last { isName($0.name, column) }.map { RawJSON(unchecked: Array(bytes[$0.value])) }
    }

    private func isName(_ range: Range<Int>, _ column: String) -> Bool {
        let inner = bytes[range.lowerBound + 1..<range.upperBound - 1]
        guard inner.contains(UInt8(ascii: "\\")) else { return inner.elementsEqual(column.utf8) }
        guard let name = RawJSON(unchecked: Array(bytes[range])).stringValue else { return false }
        return WireText.areSame(name, column)
    }
}
