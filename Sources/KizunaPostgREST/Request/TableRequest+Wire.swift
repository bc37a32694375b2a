package import KizunaCore

extension TableRequest {
    /// The HTTP method.
    package var method: String { isHead ? "HEAD" : "GET" }

    /// The percent-encoded query, without the question mark.
    package var queryText: String { items.map(\.encoded).joined(separator: "&") }

    /// The percent-encoded path and query below the REST base: `/tasks?select=%2A`.
    package var target: String { "/" + WireText.pathEncoded(table) + "?" + queryText }

    /// The headers of the request, without those of the session.
    package var headers: [WireHeader] {
        var headers = [WireHeader("Accept", accept), WireHeader("Accept-Profile", schema)]
        let all = (count.map { ["count=\($0.rawValue)"] } ?? []) + preferences
        if !all.isEmpty { headers.append(WireHeader("Prefer", all.joined(separator: ","))) }
        return headers
    }

    private var accept: String {
        guard stripsNulls else { return shape.accept }
        return switch shape {
        case .rows: "application/vnd.pgrst.array+json;nulls=stripped"
        case .single, .maybeSingle: shape.accept + ";nulls=stripped"
        case .csv, .geojson, .explain: shape.accept
        }
    }

    /// The canonical text that identifies the cached query of this request (docs/spec/reads.md, Query identity).
    ///
    /// ASCII only: everything is percent-encoded, so equal texts are equal bytes. Filters are sorted, since AND is
    /// commutative; lists and logic trees stay unchanged. The owner and the read strategy are not part of the text.
    package var cacheKey: String {
        let select = items.filter { $0.role == .select }
        let rest = items.filter { $0.role != .select }.sorted(by: QueryItem.canonicallyPrecedes)
        var parts = [WireText.pathEncoded(schema) + "/" + WireText.pathEncoded(table)]
        parts.append((select + rest).map(\.encoded).joined(separator: "&"))
        if !isCacheable { parts += ([method] + headers.map(\.value)).map(WireText.queryEncoded) }
        return parts.joined(separator: "?")
    }

    /// Whether a response to this request can be stored: a JSON array of rows without count or preference
    /// (docs/spec/reads.md, Requests that can be cached).
    package var isCacheable: Bool {
        shape == .rows && !stripsNulls && !isHead && count == nil && preferences.isEmpty
    }
}
