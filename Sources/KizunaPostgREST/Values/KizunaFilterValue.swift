public import KizunaCore

/// A value that can be an element of a PostgreSQL array, including `nil`.
///
/// `from("tasks").contains("tags", value: ["a", nil])` ⟶ `GET /tasks?tags=cs.{a,NULL}`. An `Optional` conforms to this
/// protocol only: a null operand of `eq` would never match, so `eq("note", value: nil)` does not compile.
public protocol KizunaArrayElement {
    /// The text of the value inside `{…}`, in quotes if needed.
    var arrayElementText: String { get }
}

/// A value that a filter compares a column with.
///
/// `from("tasks").eq("priority", value: 3)` ⟶ `GET /tasks?priority=eq.3`. An enum with a raw value conforms by an empty
/// `extension Status: KizunaFilterValue {}`.
public protocol KizunaFilterValue: KizunaArrayElement {
    /// The text of the value after the operator, before percent-encoding.
    var filterText: String { get }
}

extension KizunaFilterValue {
    /// The text as one array element, in quotes if needed.
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
    /// The shortest text of the number: `1.0`, `1e+16`, `inf`.
    public var filterText: String { description }
}

extension Float: KizunaFilterValue {
    /// The shortest text of the number.
    public var filterText: String { description }
}

extension Array: KizunaArrayElement where Element: KizunaArrayElement {
    /// The array literal: a nested array is not quoted.
    public var arrayElementText: String { filterText }
}

extension Array: KizunaFilterValue where Element: KizunaArrayElement {
    /// The array literal: `{a,"b c,d",NULL}`.
    public var filterText: String { "{" + map(\.arrayElementText).joined(separator: ",") + "}" }
}

extension Optional: KizunaArrayElement where Wrapped: KizunaArrayElement {
    /// `NULL` for nil, otherwise the text of the value.
    public var arrayElementText: String { map(\.arrayElementText) ?? "NULL" }
}

extension RawJSON: KizunaArrayElement {}

extension RawJSON: KizunaFilterValue {
    /// The unchanged JSON text, for `json` and `jsonb` columns.
    public var filterText: String { text }
}
