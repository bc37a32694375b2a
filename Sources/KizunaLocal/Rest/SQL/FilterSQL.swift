/// Turns fields and conditions into SQL.
struct FilterSQL {
    let shape: TableShape
    /// What stands before a column's name: the table, or the name of a subquery with its rows.
    let qualifier: String

    /// All the conditions after `WHERE`, or nothing.
    func whereClause(_ trees: [LogicTree], _ sql: inout SQLText) -> String {
        guard !trees.isEmpty else { return "" }
        var parts: [String] = []
        for tree in trees { parts.append(text(tree, &sql)) }
        return " WHERE " + parts.joined(separator: " AND ")
    }

    func text(_ tree: LogicTree, _ sql: inout SQLText) -> String {
        switch tree {
        case .condition(let condition): return text(condition, &sql)
        case .group(let isNegated, let isAnd, let children):
            var parts: [String] = []
            for child in children { parts.append(text(child, &sql)) }
            return (isNegated ? "NOT " : "") + "(" + parts.joined(separator: isAnd ? " AND " : " OR ") + ")"
        }
    }

    func text(_ condition: Condition, _ sql: inout SQLText) -> String {
        (condition.isNegated ? "NOT " : "") + "(" + comparison(condition, &sql) + ")"
    }

    private func comparison(_ condition: Condition, _ sql: inout SQLText) -> String {
        let field = text(condition.field, &sql)
        switch condition.operation {
        case .compare(let symbol, let quantifier, let value):
            let isPattern = symbol == "LIKE" || symbol == "ILIKE"
            let placeholder = sql.bind(isPattern ? value.replacing("*", with: "%") : value)
            return "\(field) \(symbol) " + (quantifier.map { "\($0.rawValue) (\(placeholder))" } ?? placeholder)
        case .oneOf(let members):
            return "\(field) = ANY (\(sql.bind(members == [""] ? "{}" : Self.arrayLiteral(members))))"
        case .isWord(let word): return "\(field) IS \(word)"
        case .isDistinct(let value): return "\(field) IS DISTINCT FROM \(sql.bind(value))"
        case .search(let function, let language, let value):
            let configuration = language.map { sql.bind($0) + ", " } ?? ""
            let isVector = condition.field.path.isEmpty && shape.column(condition.field.name)?.type == "tsvector"
            let document = isVector ? field : "to_tsvector(\(configuration)\(field))"
            return "\(document) @@ \(function)(\(configuration)\(sql.bind(value)))"
        }
    }

    /// A column, or what its JSON path leads to; what is no JSON is made JSON first.
    func text(_ field: Field, _ sql: inout SQLText) -> String {
        var text = "\(qualifier).\(SQLText.quoted(field.name))"
        guard !field.path.isEmpty else { return text }
        if let type = shape.column(field.name)?.type, type != "json", type != "jsonb" { text = "to_jsonb(\(text))" }
        for step in field.path {
            text += step.isText ? "->>" : "->"
            switch step.operand {
            case .key(let key): text += sql.bind(key)
            case .index(let index): text += sql.bind(index) + "::int"
            }
        }
        return "(\(text))"
    }

    /// An array literal whose elements are all quoted, so that `NULL` is a word like any other.
    static func arrayLiteral(_ elements: [String]) -> String {
        let quoted = elements.map { element in
            "\"" + element.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        }
        return "{" + quoted.joined(separator: ",") + "}"
    }
}
