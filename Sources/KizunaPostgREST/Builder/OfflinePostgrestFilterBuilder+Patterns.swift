extension OfflinePostgrestFilterBuilder {
    /// Keeps the rows whose column matches a pattern of `%` and `_`.
    ///
    /// `from("tasks").like("title", pattern: "draw%")` ⟶ `GET /tasks?title=like.draw%25`. Offline: unknown unless
    /// `patternEvaluation` is `.ascii`; then evaluated on text columns.
    public func like(_ column: String, pattern: any KizunaFilterValue) -> Self {
        adding(column, "like.\(pattern.filterText)")
    }

    /// Keeps the rows whose column matches a pattern in any case.
    ///
    /// `from("tasks").ilike("title", pattern: "%draw%")` ⟶ `GET /tasks?title=ilike.%25draw%25`. Offline: unknown unless
    /// `patternEvaluation` is `.ascii`; then evaluated on text columns where pattern and text are ASCII.
    public func ilike(_ column: String, pattern: any KizunaFilterValue) -> Self {
        adding(column, "ilike.\(pattern.filterText)")
    }

    /// Keeps the rows whose column matches all patterns.
    ///
    /// `from("tasks").likeAllOf("title", patterns: ["a%", "%z"])` ⟶ `GET /tasks?title=like(all).{a%25,%25z}`. Offline:
    /// as `like` and `ilike`.
    public func likeAllOf(_ column: String, patterns: [some KizunaFilterValue]) -> Self {
        adding(column, "like(all).\(patterns.filterText)")
    }

    /// Keeps the rows whose column matches at least one pattern.
    ///
    /// `from("tasks").likeAnyOf("title", patterns: ["a%", "%z"])` ⟶ `GET /tasks?title=like(any).{a%25,%25z}`. Offline:
    /// as `like` and `ilike`.
    public func likeAnyOf(_ column: String, patterns: [some KizunaFilterValue]) -> Self {
        adding(column, "like(any).\(patterns.filterText)")
    }

    /// Keeps the rows whose column matches all patterns in any case.
    ///
    /// `from("tasks").iLikeAllOf("title", patterns: ["a%", "%z"])` ⟶ `GET /tasks?title=ilike(all).{a%25,%25z}`.
    /// Offline: as `like` and `ilike`.
    public func iLikeAllOf(_ column: String, patterns: [some KizunaFilterValue]) -> Self {
        adding(column, "ilike(all).\(patterns.filterText)")
    }

    /// Keeps the rows whose column matches at least one pattern in any case.
    ///
    /// `from("tasks").iLikeAnyOf("title", patterns: ["a%", "%z"])` ⟶ `GET /tasks?title=ilike(any).{a%25,%25z}`.
    /// Offline: as `like` and `ilike`.
    public func iLikeAnyOf(_ column: String, patterns: [some KizunaFilterValue]) -> Self {
        adding(column, "ilike(any).\(patterns.filterText)")
    }

    /// Keeps the rows whose column matches a regular expression.
    ///
    /// `from("tasks").match("title", pattern: "^draw")` ⟶ `GET /tasks?title=match.%5Edraw`. Offline: unknown unless
    /// `patternEvaluation` is `.ascii` and the expression is plain ASCII, with `^` and `$` at its ends at most.
    public func match(_ column: String, pattern: any KizunaFilterValue) -> Self {
        adding(column, "match.\(pattern.filterText)")
    }

    /// Keeps the rows whose column matches a regular expression in any case.
    ///
    /// `from("tasks").imatch("title", pattern: "^draw")` ⟶ `GET /tasks?title=imatch.%5Edraw`. Offline: unknown unless
    /// `patternEvaluation` is `.ascii` and the expression is plain ASCII, with `^` and `$` at its ends at most.
    public func imatch(_ column: String, pattern: any KizunaFilterValue) -> Self {
        adding(column, "imatch.\(pattern.filterText)")
    }

    /// Keeps the rows whose column matches a full-text search.
    ///
    /// `from("docs").textSearch("body", query: "cat dog", config: "english", type: .plain)` ⟶ `GET
    /// /docs?body=plfts(english).cat%20dog`. Offline: unknown; dictionaries and stemming are the server's.
    public func textSearch(
        _ column: String, query: any KizunaFilterValue, config: String? = nil, type: KizunaTextSearchType? = nil
    ) -> Self {
        let language = config.map { "(\($0))" } ?? ""
        return adding(column, "\(type?.rawValue ?? "")fts\(language).\(query.filterText)")
    }

    /// Keeps the rows whose column matches a search in the syntax of `to_tsquery`.
    ///
    /// `from("docs").fts("body", query: "cat & dog")` ⟶ `GET /docs?body=fts.cat%20%26%20dog`. Offline: unknown.
    public func fts(_ column: String, query: any KizunaFilterValue, config: String? = nil) -> Self {
        textSearch(column, query: query, config: config)
    }
}
