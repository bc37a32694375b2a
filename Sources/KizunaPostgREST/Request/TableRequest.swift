/// A read of one table or view. Creating one sends nothing.
///
/// `from("tasks").eq("done", value: false)` ⟶ `GET /tasks?select=*&done=eq.false`. Two requests are equal if their
/// bytes on the wire are equal. Offline: `cacheKey` identifies the cached query, and the filters are evaluated on the
/// pending mutations.
public struct TableRequest: Sendable, Hashable {
    /// The schema of the table.
    package var schema: String
    /// The table or view.
    package var table: String
    /// The decoded query parameters in the order in which they are sent; `select` comes first.
    package private(set) var items: [QueryItem]
    /// The form of the response.
    package var shape: ResponseShape = .rows
    /// Whether the server omits null members.
    package var stripsNulls = false
    /// Whether only the headers are requested.
    package var isHead = false
    /// The way the server counts the rows; nil if it does not.
    package var count: KizunaCountOption?
    /// Further preferences in the order in which they were added: `tx=rollback`, `max-affected=10`.
    package private(set) var preferences: [String] = []

    /// Creates an unfiltered request for these columns of a table.
    package init(schema: String = "public", table: String, columns: String = "*") {
        self.schema = schema
        self.table = table
        items = [QueryItem("select", WireText.selectList(columns))]
    }

    /// The value of `select`, without white space outside quotes.
    package var columns: String {
        get { items.first { $0.role == .select }?.value ?? "*" }
        set { set("select", to: WireText.selectList(newValue)) }
    }

    /// The filters in call order: columns, `or`, `and`, `not.or`, and those of referenced tables.
    package var filters: [QueryItem] { items.filter(\.isFilter) }

    /// The top-level order, first term first; empty if the order of the rows is not defined.
    package var order: [OrderTerm] {
        items.first { $0.name == "order" }.map { OrderTerm.terms(of: $0.value) } ?? []
    }

    /// The columns of the top-level order; nil if a term is not a plain column of the table.
    package var orderColumns: [String]? {
        let terms = order
        return terms.allSatisfy(\.isPlainColumn) ? terms.map(\.column) : nil
    }

    /// The largest number of rows in the response.
    package var limit: Int? { number("limit") }

    /// The number of skipped rows.
    package var offset: Int? { number("offset") }

    /// Returns whether the bytes of both requests on the wire are equal.
    public static func == (lhs: TableRequest, rhs: TableRequest) -> Bool {
        WireText.areSame(lhs.schema, rhs.schema) && WireText.areSame(lhs.table, rhs.table) && lhs.items == rhs.items
            && lhs.shape == rhs.shape && lhs.stripsNulls == rhs.stripsNulls && lhs.isHead == rhs.isHead
            && lhs.count == rhs.count && lhs.preferences == rhs.preferences
    }

    /// Hashes the parts that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(QueryItem(schema, table))
        hasher.combine(items)
        hasher.combine(shape)
        hasher.combine(isHead)
    }

    // MARK: - Building

    /// Appends a parameter.
    package mutating func append(_ name: String, _ value: String) {
        items.append(QueryItem(name, value))
    }

    /// Replaces a parameter at its position, or appends it.
    package mutating func set(_ name: String, to value: String) {
        if let at = items.firstIndex(where: { WireText.areSame($0.name, name) }) {
            items[at] = QueryItem(name, value)
        } else {
            append(name, value)
        }
    }

    /// Adds an order term to the parameter of this name.
    package mutating func appendOrder(_ name: String, _ term: String) {
        if let present = items.first(where: { WireText.areSame($0.name, name) }) {
            set(name, to: present.value + "," + term)
        } else {
            append(name, term)
        }
    }

    /// Adds a preference and removes one of the same kind.
    package mutating func prefer(_ kind: String, _ value: String) {
        preferences.removeAll { $0.hasPrefix(kind + "=") }
        preferences.append(kind + "=" + value)
    }

    private func number(_ name: String) -> Int? {
        items.first { $0.name == name }.flatMap { Int($0.value) }
    }
}
