/// One decoded query parameter of a request; compared by its bytes.
package struct QueryItem: Sendable, Hashable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    package static func == (lhs: QueryItem, rhs: QueryItem) -> Bool {
        WireText.areSame(lhs.name, rhs.name) && WireText.areSame(lhs.value, rhs.value)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in name.utf8 { hasher.combine(byte) }
        hasher.combine(UInt8(0xFF))
        for byte in value.utf8 { hasher.combine(byte) }
    }

    /// The parameter as it stands in a URL.
    package var encoded: String { WireText.queryEncoded(name) + "=" + WireText.queryEncoded(value) }

    /// The order of the canonical text: by name, then by value, both by bytes.
    static func canonicallyPrecedes(_ lhs: QueryItem, _ rhs: QueryItem) -> Bool {
        if !WireText.areSame(lhs.name, rhs.name) { return lhs.name.utf8.lexicographicallyPrecedes(rhs.name.utf8) }
        return lhs.value.utf8.lexicographicallyPrecedes(rhs.value.utf8)
    }

    /// What the server takes the parameter for, decided by its name alone (docs/spec/postgrest.md, Filter parameters).
    enum Role {
        case select
        case order
        case limit
        case offset
        case logic
        case filter
        /// `columns` and `on_conflict`: no filter, and without effect on a read.
        case reserved
    }

    /// Whether it takes part in which rows are meant.
    package var isFilter: Bool { role == .filter || role == .logic }

    var role: Role {
        switch name {
        case "select": return .select
        case "columns", "on_conflict": return .reserved
        default: break
        }
        switch name.split(separator: ".", omittingEmptySubsequences: false).last {
        case "order": return .order
        case "limit": return .limit
        case "offset": return .offset
        case "and", "or": return .logic
        default: return .filter
        }
    }
}
