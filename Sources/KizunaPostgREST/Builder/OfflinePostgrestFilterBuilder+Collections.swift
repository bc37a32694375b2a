extension OfflinePostgrestFilterBuilder {
    /// Keeps the rows whose array, range or JSON contains a value.
    ///
    /// `from("tasks").contains("tags", value: ["red", "blue"])` ⟶ `GET /tasks?tags=cs.{red,blue}`. Offline: evaluated
    /// on one-dimensional arrays of a declared type and on `jsonb`.
    public func contains(_ column: String, value: any KizunaFilterValue) -> Self {
        adding(column, "cs.\(value.filterText)")
    }

    /// Keeps the rows whose array, range or JSON is contained in a value.
    ///
    /// `from("tasks").containedBy("tags", value: ["red", "blue"])` ⟶ `GET /tasks?tags=cd.{red,blue}`. Offline:
    /// evaluated on one-dimensional arrays of a declared type and on `jsonb`.
    public func containedBy(_ column: String, value: some KizunaFilterValue) -> Self {
        adding(column, "cd.\(value.filterText)")
    }

    /// Keeps the rows whose array or range shares an element with a value.
    ///
    /// `from("tasks").overlaps("tags", value: ["red"])` ⟶ `GET /tasks?tags=ov.{red}`. Offline: evaluated on one-
    /// dimensional arrays of a declared type.
    public func overlaps(_ column: String, value: any KizunaFilterValue) -> Self {
        adding(column, "ov.\(value.filterText)")
    }

    /// Keeps the rows whose range lies entirely before a range.
    ///
    /// `from("rooms").rangeLt("booked", range: "[1,5)")` ⟶ `GET /rooms?booked=sl.[1,5)`. Offline: unknown.
    public func rangeLt(_ column: String, range: any KizunaFilterValue) -> Self {
        adding(column, "sl.\(range.filterText)")
    }

    /// Keeps the rows whose range lies entirely after a range.
    ///
    /// `from("rooms").rangeGt("booked", range: "[1,5)")` ⟶ `GET /rooms?booked=sr.[1,5)`. Offline: unknown.
    public func rangeGt(_ column: String, range: any KizunaFilterValue) -> Self {
        adding(column, "sr.\(range.filterText)")
    }

    /// Keeps the rows whose range does not begin before a range.
    ///
    /// `from("rooms").rangeGte("booked", range: "[1,5)")` ⟶ `GET /rooms?booked=nxl.[1,5)`. Offline: unknown.
    public func rangeGte(_ column: String, range: any KizunaFilterValue) -> Self {
        adding(column, "nxl.\(range.filterText)")
    }

    /// Keeps the rows whose range does not end after a range.
    ///
    /// `from("rooms").rangeLte("booked", range: "[1,5)")` ⟶ `GET /rooms?booked=nxr.[1,5)`. Offline: unknown.
    public func rangeLte(_ column: String, range: any KizunaFilterValue) -> Self {
        adding(column, "nxr.\(range.filterText)")
    }

    /// Keeps the rows whose range is adjacent to a range.
    ///
    /// `from("rooms").rangeAdjacent("booked", range: "[1,5)")` ⟶ `GET /rooms?booked=adj.[1,5)`. Offline: unknown.
    public func rangeAdjacent(_ column: String, range: any KizunaFilterValue) -> Self {
        adding(column, "adj.\(range.filterText)")
    }
}
