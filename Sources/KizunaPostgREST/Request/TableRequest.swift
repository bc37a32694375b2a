/// A read of one table or view, as a value: building one does nothing.
///
/// `from("tasks").eq("done", value: false)` ⟶ `GET /tasks?select=*&done=eq.false`. Two requests are equal when they
/// would be sent alike. Offline: the request's `cacheKey` names its stored answer, and its filters are evaluated over
/// the user's unsent writes.
public struct TableRequest: Sendable, Hashable {
    /// The schema the table is looked up in.
    package var schema: String
    /// The table or view.
    package var table: String
    /// Every query parameter, decoded, in the order it is sent; `select` first.
    package private(set) var items: [QueryItem]
    /// The form of the answer.
    package var shape: ResponseShape = .rows
    /// Whether members that are null are left out of the answer.
    package var stripsNulls = false
    /// Whether only the headers are asked for.
    package var isHead = false
    /// How the rows are counted, or nil for not at all.
    package var count: KizunaCountOption?
    /// Further preferences in the order they were asked for: `tx=rollback`, `max-affected=10`.
    package private(set) var preferences: [String] = []

    /// A request for these columns of a table, unfiltered.
    package init(schema: String = "public", table: String, columns: String = "*") {
        self.schema = schema
        self.table = table
        items = [QueryItem("select", WireText.selectList(columns))]
    }

    /// The select text, without white space outside quotes.
    package var columns: String {
        get { items.first { $0.role == .select }?.value ?? "*" }
        set { set("select", to: WireText.selectList(newValue)) }
    }

    /// The filters in call order: columns, `or`, `and`, `not.or`, and those of referenced tables.
    package var filters: [QueryItem] { items.filter(\.isFilter) }

    /// The top-level order, first term first; empty where the server may answer in any order.
    package var order: [OrderTerm] {
        items.first { $0.name == "order" }.map { OrderTerm.terms(of: $0.value) } ?? []
    }

    /// The columns the top-level order reads; nil where a term is no plain column of the table.
    package var orderColumns: [String]? {
        let terms = order
        return terms.allSatisfy(\.isPlainColumn) ? terms.map(\.column) : nil
    }

    /// How many rows are asked for at most.
    package var limit: Int? { number("limit") }

    /// How many rows are skipped.
    package var offset: Int? { number("offset") }

    /// Two requests are equal when they would be sent alike, byte for byte.
    public static func == (lhs: TableRequest, rhs: TableRequest) -> Bool {
        WireText.areSame(lhs.schema, rhs.schema) && WireText.areSame(lhs.table, rhs.table) && lhs.items == rhs.items
            && lhs.shape == rhs.shape && lhs.stripsNulls == rhs.stripsNulls && lhs.isHead == rhs.isHead
            && lhs.count == rhs.count && lhs.preferences == rhs.preferences
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(QueryItem(schema, table))
        hasher.combine(items)
        hasher.combine(shape)
        hasher.combine(isHead)
    }

    // MARK: - Building

    /// Adds a parameter behind the others.
    package mutating func append(_ name: String, _ value: String) {
        items.append(QueryItem(name, value))
    }

    /// Sets a parameter in the place it already has, or behind the others.
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

    /// Adds a preference; one of the same kind is replaced.
    package mutating func prefer(_ kind: String, _ value: String) {
        preferences.removeAll { $0.hasPrefix(kind + "=") }
        preferences.append(kind + "=" + value)
    }

    private func number(_ name: String) -> Int? {
        items.first { $0.name == name }.flatMap { Int($0.value) }
    }
}
