/// The requested form of the response.
package enum ResponseShape: Sendable, Hashable {
    /// A JSON array of objects: the only shape that can be cached.
    case rows
    /// One JSON object; any other number of rows is an error.
    case single
    /// One JSON object, or nothing if no row matches.
    case maybeSingle
    case csv
    case geojson
    /// A query plan; the whole `Accept` value.
    case explain(accept: String)

    /// The `Accept` header's value.
    package var accept: String {
        switch self {
        case .rows: "application/json"
        case .single, .maybeSingle: "application/vnd.pgrst.object+json"
        case .csv: "text/csv"
        case .geojson: "application/geo+json"
        case .explain(let accept): accept
        }
    }
}

/// How the server counts the rows a request matches.
///
/// `from("tasks").select(count: .exact)` ⟶ `GET /tasks?select=*` with `Prefer: count=exact`. Offline: the count is
/// known to the server only, so a request with a count is never cached.
public struct KizunaCountOption: RawRepresentable, Hashable, Sendable {
    /// The value of `Prefer: count=`.
    public let rawValue: String

    /// Creates an option from the value of `Prefer: count=`.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Counts every row.
    public static let exact = Self(rawValue: "exact")
    /// Uses the planner's estimate.
    public static let planned = Self(rawValue: "planned")
    /// Counts small results and uses the planner's estimate for large ones.
    public static let estimated = Self(rawValue: "estimated")
}

/// The function that turns a search text into a `tsquery`.
///
/// `from("docs").textSearch("body", query: "cat dog", type: .plain)` ⟶ `GET /docs?body=plfts.cat%20dog`.
public struct KizunaTextSearchType: RawRepresentable, Hashable, Sendable {
    /// The letters before `fts` in the operator.
    public let rawValue: String

    /// Creates a type from the letters before `fts`.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// All words must occur: `plainto_tsquery`.
    public static let plain = Self(rawValue: "pl")
    /// The words must follow one another: `phraseto_tsquery`.
    public static let phrase = Self(rawValue: "ph")
    /// The syntax of web search engines: `websearch_to_tsquery`.
    public static let websearch = Self(rawValue: "w")
}

/// The form of a query plan.
///
/// `from("tasks").explain(format: .json)` ⟶ `Accept: application/vnd.pgrst.plan+json; …`.
public struct KizunaExplainFormat: RawRepresentable, Hashable, Sendable {
    /// The word after `plan+` in the media type.
    public let rawValue: String

    /// Creates a format from the word after `plan+`.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Indented text.
    public static let text = Self(rawValue: "text")
    /// JSON.
    public static let json = Self(rawValue: "json")
}
