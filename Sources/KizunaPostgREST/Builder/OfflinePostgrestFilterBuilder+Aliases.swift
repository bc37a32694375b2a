extension OfflinePostgrestFilterBuilder {
    /// Another name of `eq`.
    ///
    /// `from("tasks").equals("priority", value: "3")` ⟶ `GET /tasks?priority=eq.3`. Offline: as `eq`.
    public func equals(_ column: String, value: String) -> Self {
        eq(column, value: value)
    }

    /// Another name of `neq`.
    ///
    /// `from("tasks").notEquals("priority", value: "3")` ⟶ `GET /tasks?priority=neq.3`. Offline: as `neq`.
    public func notEquals(_ column: String, value: String) -> Self {
        neq(column, value: value)
    }

    /// Another name of `gt`.
    ///
    /// `from("tasks").greaterThan("priority", value: "3")` ⟶ `GET /tasks?priority=gt.3`. Offline: as `gt`.
    public func greaterThan(_ column: String, value: String) -> Self {
        gt(column, value: value)
    }

    /// Another name of `gte`.
    ///
    /// `from("tasks").greaterThanOrEquals("priority", value: "3")` ⟶ `GET /tasks?priority=gte.3`. Offline: as `gte`.
    public func greaterThanOrEquals(_ column: String, value: String) -> Self {
        gte(column, value: value)
    }

    /// Another name of `lt`.
    ///
    /// `from("tasks").lowerThan("priority", value: "3")` ⟶ `GET /tasks?priority=lt.3`. Offline: as `lt`.
    public func lowerThan(_ column: String, value: String) -> Self {
        lt(column, value: value)
    }

    /// Another name of `lte`.
    ///
    /// `from("tasks").lowerThanOrEquals("priority", value: "3")` ⟶ `GET /tasks?priority=lte.3`. Offline: as `lte`.
    public func lowerThanOrEquals(_ column: String, value: String) -> Self {
        lte(column, value: value)
    }

    /// Another name of `rangeLt`.
    ///
    /// `from("rooms").rangeLowerThan("booked", range: "[1,5)")` ⟶ `GET /rooms?booked=sl.[1,5)`. Offline: unknown.
    public func rangeLowerThan(_ column: String, range: String) -> Self {
        rangeLt(column, range: range)
    }

    /// Another name of `rangeGt`.
    ///
    /// `from("rooms").rangeGreaterThan("booked", value: "[1,5)")` ⟶ `GET /rooms?booked=sr.[1,5)`. Offline: unknown.
    public func rangeGreaterThan(_ column: String, value: String) -> Self {
        rangeGt(column, range: value)
    }

    /// Another name of `rangeGte`.
    ///
    /// `from("rooms").rangeGreaterThanOrEquals("booked", value: "[1,5)")` ⟶ `GET /rooms?booked=nxl.[1,5)`. Offline:
    /// unknown.
    public func rangeGreaterThanOrEquals(_ column: String, value: String) -> Self {
        rangeGte(column, range: value)
    }

    /// Another name of `rangeLte`.
    ///
    /// `from("rooms").rangeLowerThanOrEquals("booked", value: "[1,5)")` ⟶ `GET /rooms?booked=nxr.[1,5)`. Offline:
    /// unknown.
    public func rangeLowerThanOrEquals(_ column: String, value: String) -> Self {
        rangeLte(column, range: value)
    }

    /// Another name of `textSearch` for `fts`.
    ///
    /// `from("docs").fullTextSearch("body", query: "cat")` ⟶ `GET /docs?body=fts.cat`. Offline: unknown.
    public func fullTextSearch(_ column: String, query: String, config: String? = nil) -> Self {
        textSearch(column, query: query, config: config, type: nil)
    }

    /// Another name of `textSearch` for `plfts`.
    ///
    /// `from("docs").plainToFullTextSearch("body", query: "cat")` ⟶ `GET /docs?body=plfts.cat`. Offline: unknown.
    public func plainToFullTextSearch(_ column: String, query: String, config: String? = nil) -> Self {
        textSearch(column, query: query, config: config, type: .plain)
    }

    /// Another name of `textSearch` for `phfts`.
    ///
    /// `from("docs").phraseToFullTextSearch("body", query: "cat")` ⟶ `GET /docs?body=phfts.cat`. Offline: unknown.
    public func phraseToFullTextSearch(_ column: String, query: String, config: String? = nil) -> Self {
        textSearch(column, query: query, config: config, type: .phrase)
    }

    /// Another name of `textSearch` for `wfts`.
    ///
    /// `from("docs").webFullTextSearch("body", query: "cat")` ⟶ `GET /docs?body=wfts.cat`. Offline: unknown.
    public func webFullTextSearch(_ column: String, query: String, config: String? = nil) -> Self {
        textSearch(column, query: query, config: config, type: .websearch)
    }
}
