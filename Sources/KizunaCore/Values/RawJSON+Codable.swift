internal import Foundation

// A row can be read and written as it is. At the top level, where this package hands bytes over, they stay what they are;
// inside another value they go through the coder, which keeps integers of 64 bits and decimals of 38 digits.

extension RawJSON: Codable {
    /// Takes a JSON text, which must be exactly one value.
    ///
    /// - Throws: `SyncError` with code `malformedResponse` when the text is no JSON.
    public init(parsing text: String) throws {
        do {
            try self.init(validating: Array(text.utf8))
        } catch {
            throw SyncError(.malformedResponse, "The text is not one JSON value.", underlying: error)
        }
    }

    /// Writes the value through a coder.
    public func encode(to encoder: any Encoder) throws {
        switch kind {
        case .object:
            var container = encoder.container(keyedBy: Name.self)
            for member in try objectMembers() { try container.encode(member.value, forKey: Name(member.name)) }
        case .array:
            var container = encoder.unkeyedContainer()
            for element in try arrayElements() { try container.encode(element) }
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .boolean:
            var container = encoder.singleValueContainer()
            try container.encode(bytes.first == UInt8(ascii: "t"))
        case .string:
            var container = encoder.singleValueContainer()
            try container.encode(stringValue ?? "")
        case .number:
            var container = encoder.singleValueContainer()
            if let integer = Int64(text) {
                try container.encode(integer)
            } else if let decimal = Decimal(string: text) {
                try container.encode(decimal)
            } else {
                try container.encode(Double(text) ?? .nan)
            }
        }
    }

    /// Reads a value through a coder.
    public init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: Name.self) {
            let members = try container.allKeys.map { name in
                Member(name: name.stringValue, value: try container.decode(RawJSON.self, forKey: name))
            }
            self.init(members: members)
        } else if var container = try? decoder.unkeyedContainer() {
            var elements: [RawJSON] = []
            while !container.isAtEnd { elements.append(try container.decode(RawJSON.self)) }
            self.init(elements: elements)
        } else {
            self = try Self.scalar(decoder.singleValueContainer())
        }
    }

    private static func scalar(_ container: any SingleValueDecodingContainer) throws -> RawJSON {
        if container.decodeNil() { return .null }
        if let flag = try? container.decode(Bool.self) { return RawJSON(unchecked: Array("\(flag)".utf8)) }
        if let text = try? container.decode(String.self) { return RawJSON(string: text) }
        if let integer = try? container.decode(Int64.self) { return RawJSON(unchecked: Array("\(integer)".utf8)) }
        return RawJSON(unchecked: Array("\(try container.decode(Decimal.self))".utf8))
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ name: String) { stringValue = name }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
