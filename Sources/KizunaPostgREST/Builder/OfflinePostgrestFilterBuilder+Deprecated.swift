extension OfflinePostgrestFilterBuilder {
    /// The old spelling of `like(_:pattern:)`.
    ///
    /// `from("tasks").like("title", value: "a%")` ⟶ `GET /tasks?title=like.a%25`. Offline: as `like`.
    @available(*, deprecated, renamed: "like(_:pattern:)")
    public func like(_ column: String, value: any KizunaFilterValue) -> Self {
        like(column, pattern: value)
    }

    /// The old spelling of `ilike(_:pattern:)`.
    ///
    /// `from("tasks").ilike("title", value: "a%")` ⟶ `GET /tasks?title=ilike.a%25`. Offline: as `ilike`.
    @available(*, deprecated, renamed: "ilike(_:pattern:)")
    public func ilike(_ column: String, value: any KizunaFilterValue) -> Self {
        ilike(column, pattern: value)
    }

    /// The old spelling of `in(_:values:)`.
    ///
    /// `from("tasks").in("id", value: [1, 2])` ⟶ `GET /tasks?id=in.(1,2)`. Offline: as `in`.
    @available(*, deprecated, renamed: "in(_:values:)")
    public func `in`(_ column: String, value: [any KizunaFilterValue]) -> Self {
        `in`(column, values: value)
    }

    /// The old spelling of `textSearch` with type `.plain`.
    ///
    /// `from("docs").plfts("body", query: "cat")` ⟶ `GET /docs?body=plfts.cat`. Offline: unknown.
    @available(*, deprecated, message: "Use textSearch(_:query:config:type:) with type .plain.")
    public func plfts(_ column: String, query: any KizunaFilterValue, config: String? = nil) -> Self {
        textSearch(column, query: query, config: config, type: .plain)
    }

    /// The old spelling of `textSearch` with type `.phrase`.
    ///
    /// `from("docs").phfts("body", query: "cat")` ⟶ `GET /docs?body=phfts.cat`. Offline: unknown.
    @available(*, deprecated, message: "Use textSearch(_:query:config:type:) with type .phrase.")
    public func phfts(_ column: String, query: any KizunaFilterValue, config: String? = nil) -> Self {
        textSearch(column, query: query, config: config, type: .phrase)
    }

    /// The old spelling of `textSearch` with type `.websearch`.
    ///
    /// `from("docs").wfts("body", query: "cat")` ⟶ `GET /docs?body=wfts.cat`. Offline: unknown.
    @available(*, deprecated, message: "Use textSearch(_:query:config:type:) with type .websearch.")
    public func wfts(_ column: String, query: any KizunaFilterValue, config: String? = nil) -> Self {
        textSearch(column, query: query, config: config, type: .websearch)
    }
}
