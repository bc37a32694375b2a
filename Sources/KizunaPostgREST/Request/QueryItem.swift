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

    /// The percent-encoded parameter.
    package var encoded: String { WireText.queryEncoded(name) + "=" + WireText.queryEncoded(value) }

    /// The order of the canonical text: by name, then by value, both by bytes.
    static func canonicallyPrecedes(_ lhs: QueryItem, _ rhs: QueryItem) -> Bool {
        if !WireText.areSame(lhs.name, rhs.name) { return lhs.name.utf8.lexicographicallyPrecedes(rhs.name.utf8) }
        return lhs.value.utf8.lexicographicallyPrecedes(rhs.value.utf8)
    }

    /// The meaning of the parameter for the server, decided by its name (docs/spec/postgrest.md, Filter parameters).
    enum Role {
        case select
        case order
        case limit
        case offset
        case logic
        case filter
        /// `columns` and `on_conflict`: not filters, no effect on a read.
        case reserved
    }

    /// Whether the parameter selects rows.
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
