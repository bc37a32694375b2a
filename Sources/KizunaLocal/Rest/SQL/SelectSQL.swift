/// Turns `select` and `order` into SQL.
struct SelectSQL {
    let filter: FilterSQL

    init(shape: TableShape, qualifier: String) { filter = FilterSQL(shape: shape, qualifier: qualifier) }

    /// The list after `SELECT`.
    func list(_ items: [SelectItem], _ sql: inout SQLText) -> String {
        guard !items.isEmpty else { return "\(filter.qualifier).*" }
        var parts: [String] = []
        for item in items {
            switch item {
            case .all: parts.append("\(filter.qualifier).*")
            case .field(let field, let cast, let alias):
                var text = filter.text(field, &sql)
                // A type's name cannot be quoted, or `int` would no longer be one; the parser lets only words through.
                if let cast { text = "CAST(\(text) AS \(cast))" }
                parts.append("\(text) AS \(SQLText.quoted(alias ?? field.answerName))")
            case .aggregate(let function, let field, let cast, let resultCast, let alias):
                var text = field.map { filter.text($0, &sql) } ?? "*"
                if let cast { text = "CAST(\(text) AS \(cast))" }
                text = "\(function)(\(text))"
                if let resultCast { text = "CAST(\(text) AS \(resultCast))" }
                parts.append("\(text) AS \(SQLText.quoted(alias ?? function))")
            case .embed:
                preconditionFailure("SelectSQL: \(item) was to be refused before")
            }
        }
        return parts.joined(separator: ", ")
    }

    /// The grouping that aggregates in a list need: by everything else in it. By position, since an expression that holds
    /// a parameter is not taken for the same when it stands twice.
    static func groupClause(_ items: [SelectItem]) -> String {
        func isAggregate(_ item: SelectItem) -> Bool {
            if case .aggregate = item { true } else { false }
        }
        guard items.contains(where: isAggregate) else { return "" }
        let positions = items.indices.filter { !isAggregate(items[$0]) }.map { "\($0 + 1)" }
        return positions.isEmpty ? "" : " GROUP BY " + positions.joined(separator: ", ")
    }

    func orderClause(_ terms: [OrderTerm], _ sql: inout SQLText) -> String {
        guard !terms.isEmpty else { return "" }
        var parts: [String] = []
        for term in terms {
            var text = filter.text(term.field, &sql)
            if let isDescending = term.isDescending { text += isDescending ? " DESC" : " ASC" }
            if let nulls = term.nulls { text += " \(nulls.rawValue)" }
            parts.append(text)
        }
        return " ORDER BY " + parts.joined(separator: ", ")
    }

    /// The expression that turns the rows of `kizuna_row` into the body.
    static func body(_ form: AnswerForm) -> String {
        switch form {
        case .array: "coalesce(json_agg(kizuna_row), '[]')"
        case .arrayWithoutNulls: "coalesce(json_strip_nulls(json_agg(kizuna_row)), '[]')"
        case .object: "coalesce(json_agg(kizuna_row)->0, 'null')"
        case .objectWithoutNulls: "coalesce(json_strip_nulls(json_agg(kizuna_row)->0), 'null')"
        case .csv:
            """
            coalesce((SELECT string_agg(key, ',') FROM json_object_keys((json_agg(kizuna_row)->0)) AS names(key)), '')
            || E'\\n' || coalesce(string_agg(substr(kizuna_row::text, 2, length(kizuna_row::text) - 2), E'\\n'), '')
            """
        }
    }
}
