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

    /// The column texts of a key of so many columns; nil where it is none.
    package func components(count: Int) -> [String]? {
        guard count != 1 else { return [text] }
        let parts = try? RawJSON(validating: Array(text.utf8)).arrayElements().compactMap(\.stringValue)
        return parts?.count == count ? parts : nil
    }

    /// The key's text.
    public var description: String { text }

    /// Byte order of the texts.
    public static func < (lhs: RowKey, rhs: RowKey) -> Bool {
        lhs.text.utf8.lexicographicallyPrecedes(rhs.text.utf8)
    }

    /// Byte equality; Swift's own `==` on strings would also equate differently composed characters.
    public static func == (lhs: RowKey, rhs: RowKey) -> Bool {
        lhs.withBytes { one in rhs.withBytes { ByteWords.areEqual(one, $0) } }
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(ByteWords.hash($0)) }
    }

    /// The text's bytes in place.
    @inline(__always)
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if let result = text.utf8.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) {
            return result
        }
        return Array(text.utf8).withUnsafeBytes(body)
    }

    /// The key of a column's text given as its bytes.
    init(component bytes: UnsafeBufferPointer<UInt8>) {
        if Self.isUUID(bytes), bytes.contains(where: { 0x41...0x5A ~= $0 }) {
            text = String(decoding: bytes, as: UTF8.self).lowercased()
        } else {
            text = String(decoding: bytes, as: UTF8.self)
        }
    }

    private static func normalized(_ text: String) -> String {
        text.utf8.count == 36 && isUUID(text.utf8) ? text.lowercased() : text
    }

    private static func isUUID(_ text: some Collection<UInt8>) -> Bool {
        guard text.count == 36 else { return false }
        for (index, byte) in text.enumerated() {
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
