package import KizunaCore

/// The requests of writes, as supabase-swift sends them (docs/spec/postgrest.md, Requests of supabase-swift).
package enum WriteWire {
    /// A write request without its body and without the headers of the session.
    package struct Request: Sendable, Hashable {
        package let method: String
        /// The percent-encoded query; empty if there is none.
        package let queryText: String
        /// The percent-encoded path and query below the REST base.
        package let target: String
        package let headers: [WireHeader]
    }

    /// The requested response to a write.
    package enum Returning: String, Sendable, Hashable {
        case minimal
        case representation
    }

    /// The action of an upsert on a row whose key exists.
    package enum Resolution: String, Sendable, Hashable {
        case merge = "merge-duplicates"
        case ignore = "ignore-duplicates"
    }

    /// Returns an insert, or an upsert if `resolution` is given.
    ///
    /// `columns` is the union of the rows' keys for an array body, nil for the body of a single object. Without it the
    /// server rejects rows with different keys. An empty union is not sent: it would name a column "".
    package static func insert(
        schema: String = "public", table: String, columns: Set<String>?, onConflict: String? = nil,
        resolution: Resolution? = nil, defaultToNull: Bool = true, returning: Returning? = .representation,
        select: String? = nil
    ) -> Request {
        var items: [QueryItem] = []
        if let onConflict { items.append(QueryItem("on_conflict", onConflict)) }
        if let columns, !columns.isEmpty { items.append(QueryItem("columns", quotedNames(columns))) }
        items += selected(select)
        let preferences = [
            resolution.map { "resolution=\($0.rawValue)" }, returning.map { "return=\($0.rawValue)" },
            defaultToNull ? nil : "missing=default",
        ]
        return request("POST", schema, table, items, preferences.compactMap { $0 })
    }

    /// Returns an update of the rows that the filters match. Supabase rejects an update without filters.
    package static func update(
        schema: String = "public", table: String, filters: [QueryItem], returning: Returning = .representation,
        select: String? = nil
    ) -> Request {
        request("PATCH", schema, table, filters + selected(select), ["return=\(returning.rawValue)"])
    }

    /// Returns a delete of the rows that the filters match. Supabase rejects a delete without filters.
    package static func delete(
        schema: String = "public", table: String, filters: [QueryItem], returning: Returning = .representation,
        select: String? = nil
    ) -> Request {
        request("DELETE", schema, table, filters + selected(select), ["return=\(returning.rawValue)"])
    }

    /// Returns the `eq` filters that select one row by its primary key.
    package static func keyFilters(_ key: [(column: String, value: String)]) -> [QueryItem] {
        key.map { QueryItem(WireText.columnName($0.column), "eq.\($0.value)") }
    }

    // MARK: -

    private static func selected(_ select: String?) -> [QueryItem] {
        select.map { [QueryItem("select", WireText.selectList($0))] } ?? []
    }

    private static func quotedNames(_ names: Set<String>) -> String {
        names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            .map(WireText.quoted).joined(separator: ",")
    }

    private static func request(
        _ method: String, _ schema: String, _ table: String, _ items: [QueryItem], _ preferences: [String]
    ) -> Request {
        let query = items.map(\.encoded).joined(separator: "&")
        var headers = [
            WireHeader("Accept", "application/json"), WireHeader("Content-Type", "application/json"),
            WireHeader("Content-Profile", schema),
        ]
        if !preferences.isEmpty { headers.append(WireHeader("Prefer", preferences.joined(separator: ","))) }
        let path = "/" + WireText.pathEncoded(table)
        return Request(
            method: method, queryText: query, target: query.isEmpty ? path : path + "?" + query, headers: headers)
    }
}
