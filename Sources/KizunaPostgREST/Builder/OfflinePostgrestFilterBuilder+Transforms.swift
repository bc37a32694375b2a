extension OfflinePostgrestFilterBuilder {
    /// Chooses the columns of the response, and whether the server counts and returns the rows.
    ///
    /// `from("tasks").select("id, title")` ⟶ `GET /tasks?select=id,title`; `select(head: true, count: .exact)` ⟶ `HEAD
    /// /tasks?select=*` with `Prefer: count=exact`. Offline: another column list is another cached query; with `head`
    /// or `count` the response is not stored.
    public func select(_ columns: String = "*", head: Bool = false, count: KizunaCountOption? = nil) -> Self {
        changing {
            $0.columns = columns
            $0.isHead = head
            $0.count = count
        }
    }

    /// Sorts the rows by a column; each further call adds a column.
    ///
    /// `from("tasks").order("created_at", ascending: false)` ⟶ `GET /tasks?order=created_at.desc.nullslast`. The null
    /// placement is always sent, as by supabase-swift; by default nulls come last. Offline: rows keep the server's
    /// order; rows inserted offline come last.
    public func order(
        _ column: String, ascending: Bool = true, nullsFirst: Bool = false, referencedTable: String? = nil
    ) -> Self {
        let words = "\(ascending ? "asc" : "desc").\(nullsFirst ? "nullsfirst" : "nullslast")"
        return changing { $0.appendOrder(referencedTable.map { "\($0).order" } ?? "order", "\(column).\(words)") }
    }

    /// Limits the number of rows.
    ///
    /// `from("tasks").limit(20)` ⟶ `GET /tasks?limit=20`. Offline: stored rows are never cut off; rows inserted offline
    /// may exceed the limit.
    public func limit(_ count: Int, referencedTable: String? = nil) -> Self {
        changing { $0.set(referencedTable.map { "\($0).limit" } ?? "limit", to: String(count)) }
    }

    /// Requests the rows between two positions, counted from zero, both included.
    ///
    /// `from("tasks").range(from: 10, to: 19)` ⟶ `GET /tasks?offset=10&limit=10`. Offline: as `limit`; with an offset
    /// rows inserted offline are not shown.
    public func range(from: Int, to: Int, referencedTable: String? = nil) -> Self {
        // `from: 0, to: .max` is one row more than `Int` can count.
        let (span, isTooLong) = to.subtractingReportingOverflow(from)
        let rows = isTooLong || span == .max ? Int.max : span + 1
        return changing {
            $0.set(referencedTable.map { "\($0).offset" } ?? "offset", to: String(from))
            $0.set(referencedTable.map { "\($0).limit" } ?? "limit", to: String(rows))
        }
    }

    /// Requests exactly one row, as an object; any other number of rows is an error.
    ///
    /// `from("tasks").single()` ⟶ `GET /tasks?select=*` with `Accept: application/vnd.pgrst.object+json`. Offline:
    /// never stored.
    public func single() -> Self {
        changing { $0.shape = .single }
    }

    /// Requests one row as an object, or nothing if no row matches.
    ///
    /// `from("tasks").maybeSingle()` ⟶ `GET /tasks?select=*` with `Accept: application/vnd.pgrst.object+json`. Offline:
    /// never stored.
    public func maybeSingle() -> Self {
        changing { $0.shape = .maybeSingle }
    }

    /// Requests the rows as CSV text.
    ///
    /// `from("tasks").csv()` ⟶ `GET /tasks?select=*` with `Accept: text/csv`. Offline: never stored.
    public func csv() -> Self {
        changing { $0.shape = .csv }
    }

    /// Requests the rows as a GeoJSON feature collection.
    ///
    /// `from("tasks").geojson()` ⟶ `GET /tasks?select=*` with `Accept: application/geo+json`. Offline: never stored.
    public func geojson() -> Self {
        changing { $0.shape = .geojson }
    }

    /// Omits null members from the response.
    ///
    /// `from("tasks").stripNulls()` ⟶ `GET /tasks?select=*` with `Accept:
    /// application/vnd.pgrst.array+json;nulls=stripped`. Offline: never stored.
    public func stripNulls() -> Self {
        changing { $0.stripsNulls = true }
    }

    /// Requests the query plan in place of the rows.
    ///
    /// `from("tasks").explain(analyze: true)` ⟶ `GET /tasks?select=*` with `Accept: application/vnd.pgrst.plan+text;
    /// for="application/json"; options=analyze;`. Offline: never stored.
    public func explain(
        analyze: Bool = false, verbose: Bool = false, settings: Bool = false, buffers: Bool = false, wal: Bool = false,
        format: KizunaExplainFormat = .text
    ) -> Self {
        let options = [
            (analyze, "analyze"), (verbose, "verbose"), (settings, "settings"), (buffers, "buffers"), (wal, "wal"),
        ].filter(\.0).map(\.1).joined(separator: "|")
        return changing {
            $0.shape = .explain(
                accept: "application/vnd.pgrst.plan+\(format.rawValue); for=\"\($0.shape.accept)\"; options=\(options);"
            )
        }
    }

    /// Limits the number of rows that a write may affect.
    ///
    /// `.maxAffected(1)` ⟶ `Prefer: handling=strict,max-affected=1`. Offline: no effect on a read; never stored.
    public func maxAffected(_ value: Int) -> Self {
        changing {
            $0.prefer("handling", "strict")
            $0.prefer("max-affected", String(value))
        }
    }

    /// Requests that the server rolls the transaction back.
    ///
    /// `.dryRun()` ⟶ `Prefer: tx=rollback`. Offline: never stored.
    public func dryRun() -> Self {
        changing { $0.prefer("tx", "rollback") }
    }
}
