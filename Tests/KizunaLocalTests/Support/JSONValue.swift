import KizunaCore

/// A JSON value to compare by meaning: the order of keys does not matter, and `1.50` is `1.5`.
enum JSONValue: Equatable {
    case null
    case boolean(Bool)
    /// A whole number by its digits, so that none beyond 2^53 is rounded.
    case integer(String)
    case fraction(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    init(_ raw: RawJSON) throws {
        switch raw.kind {
        case .null: self = .null
        case .boolean: self = .boolean(raw.text == "true")
        case .number:
            let isWhole = raw.text.utf8.allSatisfy {
                $0 == UInt8(ascii: "-") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
            }
            if isWhole { self = .integer(raw.text) } else { self = .fraction(Double(raw.text) ?? .nan) }
        case .string: self = .string(raw.stringValue ?? "")
        case .array: self = .array(try raw.arrayElements().map(JSONValue.init))
        case .object:
            var members: [String: JSONValue] = [:]
            for member in try raw.objectMembers() { members[member.name] = try JSONValue(member.value) }
            self = .object(members)
        }
    }

    init(text: String) throws { try self.init(RawJSON(validating: Array(text.utf8))) }

    subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    var elements: [JSONValue] {
        guard case .array(let elements) = self else { return [] }
        return elements
    }

    /// Equal where a whole number and a fraction of the same value are equal too.
    static func == (one: JSONValue, other: JSONValue) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.boolean(let a), .boolean(let b)): a == b
        case (.integer(let a), .integer(let b)): a == b
        case (.fraction(let a), .fraction(let b)): a == b
        case (.integer(let a), .fraction(let b)), (.fraction(let b), .integer(let a)): Double(a) == b
        case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
        case (.array(let a), .array(let b)): a == b
        case (.object(let a), .object(let b)): a == b
        default: false
        }
    }
}
