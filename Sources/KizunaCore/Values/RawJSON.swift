/// One JSON value kept as the bytes it came in, so that 64-bit integers, `numeric` scale and key order survive.
public struct RawJSON: Hashable, Sendable {
    /// The value's bytes, without white space around it.
    public let bytes: [UInt8]

    /// Takes bytes that are known to be one JSON value.
    package init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// Takes bytes that must be exactly one JSON value; white space around it is dropped.
    package init(validating bytes: [UInt8]) throws(JSONFault) {
        let range = try bytes.scanning { (scanner: inout JSONScanner) throws(JSONFault) in
            let range = try scanner.value()
            scanner.skipWhitespace()
            guard scanner.isAtEnd else { throw .unexpected(offset: scanner.offset) }
            return range
        }
        self.bytes = range.count == bytes.count ? bytes : Array(bytes[range])
    }

    /// A JSON string holding this text.
    package init(string: String) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(string.utf8.count + 2)
        bytes.append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x00..<0x20:
                let digits = Array("0123456789abcdef".utf8)
                bytes += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
        self.bytes = bytes
    }

    /// A JSON object of these members, in this order.
    package init(members: [Member]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(members.reduce(2) { $0 + $1.name.utf8.count + $1.value.bytes.count + 4 })
        bytes.append(UInt8(ascii: "{"))
        for (index, member) in members.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += RawJSON(string: member.name).bytes
            bytes.append(UInt8(ascii: ":"))
            bytes += member.value.bytes
        }
        bytes.append(UInt8(ascii: "}"))
        self.bytes = bytes
    }

    /// A JSON array of these elements, in this order.
    package init(elements: [RawJSON]) {
        var bytes: [UInt8] = [UInt8(ascii: "[")]
        bytes.reserveCapacity(elements.reduce(2) { $0 + $1.bytes.count + 1 })
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += element.bytes
        }
        bytes.append(UInt8(ascii: "]"))
        self.bytes = bytes
    }

    /// The JSON `null`.
    package static let null = RawJSON(unchecked: Array("null".utf8))

    /// The value's JSON text.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// A member of an object.
    package struct Member: Hashable, Sendable {
        package let name: String
        package let value: RawJSON

        package init(name: String, value: RawJSON) {
            self.name = name
            self.value = value
        }

        /// Byte equality; Swift's own `==` on strings would also equate differently composed characters.
        package func isNamed(_ other: String) -> Bool {
            name.utf8.elementsEqual(other.utf8)
        }
    }

    /// What kind of JSON value this is.
    package enum Kind: Sendable {
        case null
        case boolean
        case number
        case string
        case array
        case object
    }

    package var kind: Kind {
        switch bytes.first {
        case UInt8(ascii: "n"): .null
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .boolean
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "{"): .object
        default: .number
        }
    }

    package var isNull: Bool { kind == .null }

    /// The text of a string; nil for every other kind.
    package var stringValue: String? {
        guard kind == .string else { return nil }
        return bytes.withUnsafeBufferPointer { JSONScanner.unescaped($0) }
    }

    /// A string's own text, a number or boolean as it stands; nil for null, arrays and objects.
    package var scalarText: String? {
        switch kind {
        case .string: stringValue
        case .number, .boolean: text
        case .null, .array, .object: nil
        }
    }

    /// The members of an object in their order; a repeated name is given twice, the last one counts.
    package func objectMembers() throws(JSONFault) -> [Member] {
        guard kind == .object else { throw .wrongKind }
        return try bytes.scanning { (scanner: inout JSONScanner) throws(JSONFault) in
            var members: [Member] = []
            try scanner.expect(UInt8(ascii: "{"))
            if try scanner.take(UInt8(ascii: "}")) { return members }
            repeat {
                let name = try scanner.string()
                try scanner.expect(UInt8(ascii: ":"))
                let value = try scanner.value()
                members.append(
                    Member(
                        name: bytes[name].withUnsafeBufferPointer { JSONScanner.unescaped($0) },
                        value: RawJSON(unchecked: Array(bytes[value]))))
            } while try scanner.take(UInt8(ascii: ","))
            try scanner.expect(UInt8(ascii: "}"))
            return members
        }
    }

    /// The elements of an array in their order.
    package func arrayElements() throws(JSONFault) -> [RawJSON] {
        guard kind == .array else { throw .wrongKind }
        return try bytes.scanning { (scanner: inout JSONScanner) throws(JSONFault) in
            var elements: [RawJSON] = []
            try scanner.expect(UInt8(ascii: "["))
            if try scanner.take(UInt8(ascii: "]")) { return elements }
            repeat {
                elements.append(RawJSON(unchecked: Array(bytes[try scanner.value()])))
            } while try scanner.take(
                UInt8(ascii: ","))
            try scanner.expect(UInt8(ascii: "]"))
            return elements
        }
    }

    /// The value of a member of an object, nil where the name is absent or this is no object.
    package func member(_ name: String) -> RawJSON? {
        guard kind == .object else { return nil }
        let found = try? bytes.scanning { (scanner: inout JSONScanner) throws(JSONFault) -> Range<Int>? in
            var found: Range<Int>?
            try scanner.expect(UInt8(ascii: "{"))
            if try scanner.take(UInt8(ascii: "}")) { return nil }
            repeat {
                let itsName = try scanner.string()
                try scanner.expect(UInt8(ascii: ":"))
                let value = try scanner.value()
                if isName(itsName, name) { found = value }
            } while try scanner.take(UInt8(ascii: ","))
            try scanner.expect(UInt8(ascii: "}"))
            return found
        }
        return (found ?? nil).map { RawJSON(unchecked: Array(bytes[$0])) }
    }

    /// Whether the quoted name at a place is this one; JSON may write any character as an escape.
    private func isName(_ range: Range<Int>, _ name: String) -> Bool {
        let inner = bytes[(range.lowerBound + 1)..<(range.upperBound - 1)]
        guard inner.contains(UInt8(ascii: "\\")) else {
            return inner.count == name.utf8.count && inner.elementsEqual(name.utf8)
        }
        return bytes[range].withUnsafeBufferPointer { JSONScanner.unescaped($0) }.utf8.elementsEqual(name.utf8)
    }

    /// This object with the patch's members set: present names keep their place, new ones come last.
    package func merging(_ patch: [Member]) -> RawJSON {
        guard var members = try? objectMembers() else { return self }
        for change in patch {
            if let at = members.lastIndex(where: { $0.isNamed(change.name) }) {
                members[at] = change
            } else {
                members.append(change)
            }
        }
        return RawJSON(members: members)
    }
}

extension RawJSON: CustomStringConvertible {
    /// A placeholder: the value itself must not reach a log by accident. Use `text` for the value.
    public var description: String { "RawJSON(\(bytes.count) bytes)" }
}

extension [UInt8] {
    /// Runs a scanner over the bytes.
    package func scanning<Result, Failure: Error>(
        _ body: (inout JSONScanner) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let outcome = withUnsafeBufferPointer { buffer -> Swift.Result<Result, Failure> in
            var scanner = JSONScanner(buffer)
            do throws(Failure) {
                return .success(try body(&scanner))
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }
}
