public import KizunaCore

/// A value that can stand in a PostgreSQL array, `nil` included.
///
/// `from("tasks").contains("tags", value: ["a", nil])` ⟶ `GET /tasks?tags=cs.{a,NULL}`. An `Optional` conforms to this
/// protocol only: as an operand on its own a null would never match, so `eq("note", value: nil)` does not compile.
public protocol KizunaArrayElement {
    /// The value as it is written inside `{…}`, quoted where it must be.
    var arrayElementText: String { get }
}

/// A value a filter compares a column with.
///
/// `from("tasks").eq("priority", value: 3)` ⟶ `GET /tasks?priority=eq.3`. An enum with a raw value conforms by a bare
/// `extension Status: KizunaFilterValue {}`.
public protocol KizunaFilterValue: KizunaArrayElement {
    /// The value as it is written after the operator, before percent-encoding.
    var filterText: String { get }
}

extension KizunaFilterValue {
    /// The text as one array element, quoted where it must be.
    public var arrayElementText: String { WireText.arrayElement(filterText) }
}

extension KizunaFilterValue where Self: RawRepresentable, RawValue: KizunaFilterValue {
    /// The raw value's text.
    public var filterText: String { rawValue.filterText }
}

extension String: KizunaFilterValue {
    /// The text itself.
    public var filterText: String { self }
}

extension Substring: KizunaFilterValue {
    /// The text itself.
    public var filterText: String { String(self) }
}

extension Bool: KizunaFilterValue {
    /// `true` or `false`.
    public var filterText: String { self ? "true" : "false" }
}

extension FixedWidthInteger where Self: KizunaFilterValue {
    /// The decimal digits.
    public var filterText: String { String(self) }
}

extension Int: KizunaFilterValue {}
extension Int8: KizunaFilterValue {}
extension Int16: KizunaFilterValue {}
extension Int32: KizunaFilterValue {}
extension Int64: KizunaFilterValue {}
extension UInt: KizunaFilterValue {}
extension UInt8: KizunaFilterValue {}
extension UInt16: KizunaFilterValue {}
extension UInt32: KizunaFilterValue {}
extension UInt64: KizunaFilterValue {}

extension Double: KizunaFilterValue {
    /// Swift's shortest text of the number: `1.0`, `1e+16`, `inf`.
    public var filterText: String { description }
}

extension Float: KizunaFilterValue {
    /// Swift's shortest text of the number.
    public var filterText: String { description }
}

extension Array: KizunaArrayElement where Element: KizunaArrayElement {
    /// The array literal as it stands: a nested array is not quoted.
    public var arrayElementText: String { filterText }
}

extension Array: KizunaFilterValue where Element: KizunaArrayElement {
    /// The array literal: `{a,"b c,d",NULL}`.
    public var filterText: String { "{" + map(\.arrayElementText).joined(separator: ",") + "}" }
}

extension Optional: KizunaArrayElement where Wrapped: KizunaArrayElement {
    /// `NULL` for nil, else the value's own text.
    public var arrayElementText: String { map(\.arrayElementText) ?? "NULL" }
}

extension RawJSON: KizunaArrayElement {}

extension RawJSON: KizunaFilterValue {
    /// The JSON text as it stands, for `json` and `jsonb` columns.
    public var filterText: String { text }
}
