extension OfflinePostgrestFilterBuilder {
    /// Keeps the rows whose column equals a value.
    ///
    /// `from("tasks").eq("done", value: false)` ⟶ `GET /tasks?done=eq.false`. Offline: evaluated; a null cell never
    /// matches. In a column without a declared type, text is decided where all possible types agree.
    public func eq(_ column: String, value: any KizunaFilterValue) -> Self {
        adding(column, "eq.\(value.filterText)")
    }

    /// Keeps the rows whose column differs from a value.
    ///
    /// `from("tasks").neq("done", value: true)` ⟶ `GET /tasks?done=neq.true`. Offline: evaluated as `eq` is; a null
    /// cell never matches.
    public func neq(_ column: String, value: any KizunaFilterValue) -> Self {
        adding(column, "neq.\(value.filterText)")
    }

    /// Keeps the rows whose column is greater than a value.
    ///
    /// `from("tasks").gt("priority", value: 3)` ⟶ `GET /tasks?priority=gt.3`. Offline: evaluated for numbers, booleans,
    /// uuids, dates and times of a declared type; text only where the column is declared byte-ordered.
    public func gt(_ column: String, value: any KizunaFilterValue) -> Self {
        adding(column, "gt.\(value.filterText)")
    }

    /// Keeps the rows whose column is a value or greater.
    ///
    /// `from("tasks").gte("priority", value: 3)` ⟶ `GET /tasks?priority=gte.3`. Offline: evaluated for numbers,
    /// booleans, uuids, dates and times of a declared type; text only where the column is declared byte-ordered.
    public func gte(_ column: String, value: any KizunaFilterValue) -> Self {
        adding(column, "gte.\(value.filterText)")
    }

    /// Keeps the rows whose column is less than a value.
    ///
    /// `from("tasks").lt("priority", value: 3)` ⟶ `GET /tasks?priority=lt.3`. Offline: evaluated for numbers, booleans,
    /// uuids, dates and times of a declared type; text only where the column is declared byte-ordered.
    public func lt(_ column: String, value: any KizunaFilterValue) -> Self {
        adding(column, "lt.\(value.filterText)")
    }

    /// Keeps the rows whose column is a value or less.
    ///
    /// `from("tasks").lte("priority", value: 3)` ⟶ `GET /tasks?priority=lte.3`. Offline: evaluated for numbers,
    /// booleans, uuids, dates and times of a declared type; text only where the column is declared byte-ordered.
    public func lte(_ column: String, value: any KizunaFilterValue) -> Self {
        adding(column, "lte.\(value.filterText)")
    }

    /// Keeps the rows whose column is null, true or false.
    ///
    /// `from("tasks").is("note", value: nil)` ⟶ `GET /tasks?note=is.NULL`; `is("done", value: true)` ⟶ `done=is.true`.
    /// Offline: evaluated.
    public func `is`(_ column: String, value: Bool?) -> Self {
        adding(column, "is.\(value?.filterText ?? "NULL")")
    }

    /// Keeps the rows whose column differs from a value, where null counts as a value.
    ///
    /// `from("tasks").isDistinct("note", value: "a")` ⟶ `GET /tasks?note=isdistinct.a`. Offline: evaluated as `neq` is;
    /// a null cell always matches.
    public func isDistinct(_ column: String, value: any KizunaFilterValue) -> Self {
        adding(column, "isdistinct.\(value.filterText)")
    }

    /// Keeps the rows whose column is one of the values.
    ///
    /// `from("tasks").in("id", values: [1, 2])` ⟶ `GET /tasks?id=in.(1,2)`. The order of the values is kept: sort
    /// them if equal sets are to share one cached query. Offline: evaluated as `eq` is; an empty list matches nothing.
    public func `in`(_ column: String, values: [any KizunaFilterValue]) -> Self {
        adding(column, "in.\(listText(values))")
    }

    /// Keeps the rows whose column is none of the values.
    ///
    /// `from("tasks").notIn("id", values: [1, 2])` ⟶ `GET /tasks?id=not.in.(1,2)`. Offline: evaluated as `in` is; a
    /// null cell matches an empty list only.
    public func notIn(_ column: String, values: [any KizunaFilterValue]) -> Self {
        adding(column, "not.in.\(listText(values))")
    }

    /// Keeps the rows whose columns equal all of the values.
    ///
    /// `from("tasks").match(["done": false, "priority": 1])` ⟶ `GET /tasks?done=eq.false&priority=eq.1`. The names are
    /// sent in sorted order, so that equal dictionaries give equal requests. Offline: evaluated as `eq` is.
    public func match(_ query: [String: any KizunaFilterValue]) -> Self {
        query.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            .reduce(self) { $0.eq($1.key, value: $1.value) }
    }

    /// Keeps the rows that an operator does not match.
    ///
    /// `from("tasks").not("done", operator: .is, value: true)` ⟶ `GET /tasks?done=not.is.true`. The value is sent
    /// unchanged. Offline: evaluated where the operator is; a null comparison stays null.
    public func not(_ column: String, operator op: KizunaFilterOperator, value: any KizunaFilterValue) -> Self {
        adding(column, "not.\(op.rawValue).\(value.filterText)")
    }

    /// Keeps the rows that match at least one of the conditions.
    ///
    /// `from("tasks").or("done.is.true,priority.gt.3")` ⟶ `GET /tasks?or=(done.is.true,priority.gt.3)`. The text is
    /// sent unchanged; values with delimiters need quotes. Offline: evaluated where its conditions are, and where
    /// those that are suffice. With `referencedTable` it filters the embedded rows only.
    public func or(_ filters: any KizunaFilterValue, referencedTable: String? = nil) -> Self {
        adding(referencedTable.map { "\($0).or" } ?? "or", "(\(filters.filterText))")
    }

    /// Adds a filter in the spelling of the server.
    ///
    /// `from("tasks").filter("priority", operator: "gte", value: "3")` ⟶ `GET /tasks?priority=gte.3`. Both texts are
    /// sent unchanged. Offline: evaluated where the operator is.
    public func filter(_ column: String, operator: String, value: String) -> Self {
        adding(column, "\(`operator`).\(value)")
    }

    private func listText(_ values: [any KizunaFilterValue]) -> String {
        "(" + values.map { WireText.listMember($0.filterText) }.joined(separator: ",") + ")"
    }
}
