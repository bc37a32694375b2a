internal import KizunaCore

/// The PostgreSQL type of a column, which decides the meaning of a filter on it.
///
/// `["done": .bool, "tags": .array(of: .text)]`. The server reads a filter's value as the column's type: `eq.5` is a
/// number on an `int8` column and a text on a `text` column. Offline: with declared types, filters on the
/// device have the result of the server; without, a filter is decided only where all possible types agree.
public struct KizunaColumnType: RawRepresentable, Hashable, Sendable {
    /// The type's name in one canonical spelling: `int8`, `timestamptz`, `text[]`, `text collate C`.
    public let rawValue: String
    let kind: Kind

    /// Creates a type from any spelling of PostgreSQL or of its OpenAPI description: `bigint`, `character varying(10)`,
    /// `_text`, `timestamp with time zone`. An unknown name is kept; filters on such a column are unknown.
    public init(rawValue: String) {
        (self.rawValue, kind) = Self.read(rawValue)
    }

    /// `smallint`.
    public static let int2 = Self(rawValue: "int2")
    /// `integer`.
    public static let int4 = Self(rawValue: "int4")
    /// `bigint`.
    public static let int8 = Self(rawValue: "int8")
    /// `numeric`, of any precision.
    public static let numeric = Self(rawValue: "numeric")
    /// `real`.
    public static let float4 = Self(rawValue: "float4")
    /// `double precision`.
    public static let float8 = Self(rawValue: "float8")
    /// `boolean`.
    public static let bool = Self(rawValue: "bool")
    /// `text` in an unknown collation.
    public static let text = Self(rawValue: "text")
    /// `character varying`.
    public static let varchar = Self(rawValue: "varchar")
    /// `character(n)`, which ignores trailing blanks.
    public static let char = Self(rawValue: "bpchar")
    /// `citext`.
    public static let citext = Self(rawValue: "citext")
    /// `uuid`.
    public static let uuid = Self(rawValue: "uuid")
    /// `date`.
    public static let date = Self(rawValue: "date")
    /// `timestamp without time zone`.
    public static let timestamp = Self(rawValue: "timestamp")
    /// `timestamp with time zone`.
    public static let timestamptz = Self(rawValue: "timestamptz")
    /// `time without time zone`.
    public static let time = Self(rawValue: "time")
    /// `bytea`.
    public static let bytea = Self(rawValue: "bytea")
    /// `json`, which has no `=`.
    public static let json = Self(rawValue: "json")
    /// `jsonb`.
    public static let jsonb = Self(rawValue: "jsonb")

    /// An array of another type.
    public static func array(of element: KizunaColumnType) -> Self { Self(rawValue: element.rawValue + "[]") }

    /// An enum type with its labels in declaration order.
    public static func enumeration(_ labels: [String]) -> Self {
        Self(rawValue: "enum" + RawJSON(elements: labels.map { RawJSON(string: $0) }).text)
    }

    /// This text type with the collation `C`, which orders by bytes: `gt` and `lt` can be evaluated.
    public var byteOrdered: Self { Self(rawValue: rawValue + " collate C") }

    indirect enum Kind: Sendable, Hashable {
        case integer(bits: Int)
        case numeric
        case float4
        case float8
        case bool
        case text(isByteOrdered: Bool)
        case padded
        case citext
        case uuid
        case date
        case timestamp
        case timestamptz
        case time
        case bytea
        case enumeration([String])
        case json
        case jsonb
        case range
        case array(Kind)
        /// A type whose comparisons are not implemented.
        case opaque
    }

    // MARK: - Reading a name

    private static func read(_ text: String) -> (String, Kind) {
        if text.hasPrefix("enum["), let json = try? RawJSON(validating: Array(text.dropFirst(4).utf8)),
            let elements = try? json.arrayElements()
        {
            return (text, .enumeration(elements.compactMap(\.stringValue)))
        }
        if text.hasSuffix(" collate C") {
            let (name, kind) = read(String(text.dropLast(10)))
            return kind == .text(isByteOrdered: false)
                ? (name + " collate C", .text(isByteOrdered: true)) : (name, kind)
        }
        if text.hasSuffix("[]") {
            let (name, kind) = read(String(text.dropLast(2)))
            return (name + "[]", .array(kind))
        }
        if text.hasPrefix("_") {
            let (name, kind) = read(String(text.dropFirst()))
            return kind == .opaque ? (text, .opaque) : (name + "[]", .array(kind))
        }
        let name = withoutModifier(text)
        return scalar(name) ?? (name, .opaque)
    }

    private static func withoutModifier(_ text: String) -> String {
        var name = text
        if let open = name.firstIndex(of: "("), let close = name[open...].firstIndex(of: ")") {
            name.removeSubrange(open...close)
        }
        return name.lowercased().split(separator: " ").joined(separator: " ")
    }

    private static func scalar(_ name: String) -> (String, Kind)? {
        switch name {
        case "int2", "smallint", "smallserial": ("int2", .integer(bits: 16))
        case "int4", "int", "integer", "serial": ("int4", .integer(bits: 32))
        case "int8", "bigint", "bigserial": ("int8", .integer(bits: 64))
        case "numeric", "decimal": ("numeric", .numeric)
        case "float4", "real": ("float4", .float4)
        case "float8", "double precision", "float": ("float8", .float8)
        case "bool", "boolean": ("bool", .bool)
        case "text": ("text", .text(isByteOrdered: false))
        case "varchar", "character varying": ("varchar", .text(isByteOrdered: false))
        case "bpchar", "character", "char": ("bpchar", .padded)
        case "citext", "extensions.citext", "public.citext": ("citext", .citext)
        case "uuid": ("uuid", .uuid)
        case "date": ("date", .date)
        case "timestamp", "timestamp without time zone": ("timestamp", .timestamp)
        case "timestamptz", "timestamp with time zone": ("timestamptz", .timestamptz)
        case "time", "time without time zone": ("time", .time)
        case "bytea": ("bytea", .bytea)
        case "json": ("json", .json)
        case "jsonb": ("jsonb", .jsonb)
        case "int4range", "int8range", "numrange", "daterange", "tsrange", "tstzrange": (name, .range)
        default: nil
        }
    }
}
