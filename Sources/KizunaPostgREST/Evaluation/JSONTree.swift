internal import KizunaCore

/// A JSON value as in `jsonb`: numbers by value, members by name, the last one of a repeated name.
indirect enum JSONTree: Sendable, Hashable {
    case null
    case bool(Bool)
    case number(DecimalText)
    case string([UInt8])
    case array([JSONTree])
    case object([[UInt8]: JSONTree])

    /// Reads a cell or operand; nil if `jsonb` would reject it or a number is above the limits.
    init?(_ json: RawJSON) {
        switch json.kind {
        case .null: self = .null
        case .boolean: self = .bool(json.bytes.first == UInt8(ascii: "t"))
        case .number:
            guard let number = DecimalText(json.bytes) else { return nil }
            self = .number(number)
        case .string:
            guard Self.isPlain(json.bytes), let text = json.stringValue else { return nil }
            self = .string(Array(text.utf8))
        case .array:
            guard let elements = try? json.arrayElements() else { return nil }
            let trees = elements.compactMap(JSONTree.init)
            guard trees.count == elements.count else { return nil }
            self = .array(trees)
        case .object:
            guard let members = try? json.objectMembers() else { return nil }
            var object: [[UInt8]: JSONTree] = [:]
            for member in members {
                guard let tree = JSONTree(member.value) else { return nil }
                object[Array(member.name.utf8)] = tree
            }
            self = .object(object)
        }
    }

    /// Reads the text of an operand.
    static func operand(_ text: String) -> Reading<JSONTree> {
        let bytes = Array(text.utf8)
        guard let json = try? RawJSON(validating: bytes) else { return .rejected }
        guard isPlain(bytes), let tree = JSONTree(json) else { return .undecided }
        return .value(tree)
    }

    /// Equality is structural; only numbers and booleans are ordered.
    static func compare(_ lhs: JSONTree, _ rhs: JSONTree) -> Compared {
        switch (lhs, rhs) {
        case (.number(let left), .number(let right)): DecimalText.order(left, right)
        case (.bool(let left), .bool(let right)): Compared(left ? 1 : 0, right ? 1 : 0)
        default: areEqual(lhs, rhs) ? .equal : .different
        }
    }

    /// `@>`: whether this value contains another.
    func contains(_ other: JSONTree) -> Bool {
        if case .array(let elements) = self, other.isScalar {
            return elements.contains { Self.areEqual($0, other) }
        }
        return holds(other)
    }

    private func holds(_ other: JSONTree) -> Bool {
        switch (self, other) {
        case (.object(let left), .object(let right)):
            right.allSatisfy { name, value in left[name]?.holds(value) ?? false }
        case (.array(let left), .array(let right)):
            right.allSatisfy { wanted in left.contains { $0.holds(wanted) } }
        default: Self.areEqual(self, other)
        }
    }

    private var isScalar: Bool {
        switch self {
        case .array, .object: false
        case .null, .bool, .number, .string: true
        }
    }

    private static func areEqual(_ lhs: JSONTree, _ rhs: JSONTree) -> Bool {
        switch (lhs, rhs) {
        case (.null, .null): return true
        case (.bool(let left), .bool(let right)): return left == right
        case (.number(let left), .number(let right)): return DecimalText.order(left, right) == .equal
        case (.string(let left), .string(let right)): return left == right
        case (.array(let left), .array(let right)):
            return left.count == right.count && zip(left, right).allSatisfy { areEqual($0, $1) }
        case (.object(let left), .object(let right)):
            guard left.count == right.count else { return false }
            return left.allSatisfy { name, value in right[name].map { areEqual(value, $0) } ?? false }
        default: return false
        }
    }

    /// Whether there are no escapes of NUL or of surrogates: `jsonb` rejects some of them, a JSON parser may repair
    /// them.
    private static func isPlain(_ bytes: [UInt8]) -> Bool {
        guard bytes.contains(UInt8(ascii: "\\")) else { return true }
        var at = 0
        while at < bytes.count {
            guard bytes[at] == UInt8(ascii: "\\") else {
                at += 1
                continue
            }
            if at + 5 < bytes.count, bytes[at + 1] == UInt8(ascii: "u") {
                let digits = String(decoding: bytes[at + 2..<at + 6], as: UTF8.self).lowercased()
                if digits == "0000" || digits.hasPrefix("d8") || digits.hasPrefix("d9") || digits.hasPrefix("da")
                    || digits.hasPrefix("db") || digits.hasPrefix("dc") || digits.hasPrefix("dd")
                    || digits.hasPrefix("de") || digits.hasPrefix("df")
                {
                    return false
                }
            }
            at += 2
        }
        return true
    }
}
