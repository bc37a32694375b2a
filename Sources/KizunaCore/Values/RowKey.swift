/// The value of a row's primary key, as text that compares by bytes.
///
/// A key of one column is the value's own text: a string without its quotes, a number or boolean as it stands in the
/// JSON; a UUID in lower case, since the server answers so whatever the client sent. A key of several columns is the
/// JSON array of those texts.
public struct RowKey: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The key's text.
    public let text: String

    /// Takes a finished key text.
    package init(text: String) { self.text = text }

    /// The key made of these column texts, in the order of the primary key's columns.
    package init(components: [String]) {
        let normal = components.map(Self.normalized)
        if normal.count == 1 {
            text = normal[0]
        } else {
            text = "[" + normal.map { RawJSON(string: $0).text }.joined(separator: ",") + "]"
        }
    }

    /// The key's text.
    public var description: String { text }

    /// Byte order of the texts.
    public static func < (lhs: RowKey, rhs: RowKey) -> Bool {
        lhs.text.utf8.lexicographicallyPrecedes(rhs.text.utf8)
    }

    /// Byte equality; Swift's own `==` on strings would also equate differently composed characters.
    public static func == (lhs: RowKey, rhs: RowKey) -> Bool {
        lhs.text.utf8.elementsEqual(rhs.text.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }

    private static func normalized(_ text: String) -> String {
        isUUID(text) ? text.lowercased() : text
    }

    private static func isUUID(_ text: String) -> Bool {
        guard text.utf8.count == 36 else { return false }
        for (index, byte) in text.utf8.enumerated() {
            switch index {
            case 8, 13, 18, 23: guard byte == UInt8(ascii: "-") else { return false }
            default:
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                    UInt8(ascii: "A")...UInt8(ascii: "F"):
                    continue
                default: return false
                }
            }
        }
        return true
    }
}

extension RawJSON {
    /// The row's primary key, or nil where a key column is absent or null.
    package func rowKey(columns: [String]) -> RowKey? {
        guard let members = try? objectMembers() else { return nil }
        return Self.rowKey(of: members, columns: columns)
    }

    /// The primary key of a row given by its members.
    package static func rowKey(of members: [Member], columns: [String]) -> RowKey? {
        var components: [String] = []
        for column in columns {
            guard let value = members.last(where: { $0.isNamed(column) })?.value, let text = value.scalarText else {
                return nil
            }
            components.append(text)
        }
        return components.isEmpty ? nil : RowKey(components: components)
    }
}
