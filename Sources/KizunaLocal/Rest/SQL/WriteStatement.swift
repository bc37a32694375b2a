/// The SQL of a write. It gives two columns: the number of rows changed, and the body or null.
struct WriteStatement {
    let text: String
    let sql: SQLText

    /// Which rows of an insert may already be there, and what happens to them.
    struct Conflict {
        let columns: [String]
        let resolution: Preferences.Resolution
    }

    /// What comes back of the changed rows.
    enum Returned {
        case nothing
        case key
        case rows(RestQuery, AnswerForm)
    }

    /// The number of rows that a merging insert has added, in this transaction.
    static let insertedSetting = "SELECT coalesce(nullif(current_setting('kizuna.inserted', true), ''), '0')"

    static func insert(
        _ payload: RowPayload, _ shape: TableShape, conflict: Conflict?, putKey: [Condition] = [],
        fillsDefaults: Bool, returning: Returned
    ) -> WriteStatement {
        var sql = SQLText()
        let source = PayloadSource(payload, shape, fillsDefaults: fillsDefaults, &sql)
        let names = payload.columns.map(SQLText.quoted)
        var insert = "INSERT INTO \(shape.sqlName)"
        if !names.isEmpty { insert += " (\(names.joined(separator: ", ")))" }
        insert += " SELECT \(source.values.joined(separator: ", ")) FROM \(source.from)"
        var conditions: [String] = []
        let filter = FilterSQL(shape: shape, qualifier: "kizuna_body")
        for condition in putKey { conditions.append(filter.text(condition, &sql)) }
        // Counts what is about to be inserted; each update in its stead takes one off again.
        if conflict?.resolution == .merge { conditions.append(counting("+ 1")) }
        if !conditions.isEmpty { insert += " WHERE " + conditions.joined(separator: " AND ") }
        if let conflict, !conflict.columns.isEmpty {
            insert += " ON CONFLICT (\(conflict.columns.map(SQLText.quoted).joined(separator: ", "))) DO "
            if conflict.resolution == .merge, !names.isEmpty {
                let assignments = names.map { "\($0) = EXCLUDED.\($0)" }.joined(separator: ", ")
                insert += "UPDATE SET \(assignments) WHERE \(counting("- 1"))"
            } else {
                insert += "NOTHING"
            }
        }
        return WriteStatement(insert, shape, returning, sql)
    }

    static func update(
        _ payload: RowPayload, _ shape: TableShape, filters: [LogicTree], fillsDefaults: Bool, returning: Returned
    ) -> WriteStatement {
        var sql = SQLText()
        let source = PayloadSource(payload, shape, fillsDefaults: fillsDefaults, &sql)
        let assignments = zip(payload.columns, source.values).map { "\(SQLText.quoted($0)) = \($1)" }
        let condition = FilterSQL(shape: shape, qualifier: shape.sqlName).whereClause(filters, &sql)
        let update =
            "UPDATE \(shape.sqlName) SET \(assignments.joined(separator: ", ")) FROM \(source.from)\(condition)"
        return WriteStatement(update, shape, returning, sql)
    }

    static func delete(_ shape: TableShape, filters: [LogicTree], returning: Returned) -> WriteStatement {
        var sql = SQLText()
        let condition = FilterSQL(shape: shape, qualifier: shape.sqlName).whereClause(filters, &sql)
        return WriteStatement("DELETE FROM \(shape.sqlName)\(condition)", shape, returning, sql)
    }

    private static func counting(_ change: String) -> String {
        "set_config('kizuna.inserted', (coalesce(nullif(current_setting('kizuna.inserted', true), ''), '0')::int "
            + "\(change))::text, true) IS NOT NULL"
    }

    private init(_ change: String, _ shape: TableShape, _ returning: Returned, _ given: SQLText) {
        var sql = given
        let returned: String
        let body: String
        switch returning {
        case .nothing:
            returned = "1"
            body = "NULL"
        case .key:
            returned = shape.primaryKey.map { "\(shape.sqlName).\(SQLText.quoted($0))" }.joined(separator: ", ")
            body = "(SELECT coalesce(json_agg(kizuna_row), '[]') FROM (SELECT * FROM kizuna_changed) AS kizuna_row)"
        case .rows(let query, let form):
            returned = Self.neededColumns(query).map { column in
                "\(shape.sqlName)." + (column.map(SQLText.quoted) ?? "*")
            }.joined(separator: ", ")
            let select = SelectSQL(shape: shape, qualifier: "kizuna_changed")
            let list = select.list(query.select, &sql)
            let order = select.orderClause(query.order, &sql)
            body =
                "(SELECT \(SelectSQL.body(form)) FROM (SELECT \(list) FROM kizuna_changed\(order)) AS kizuna_row)"
        }
        text = """
            WITH kizuna_changed AS (\(change) RETURNING \(returned))
            SELECT (SELECT count(*) FROM kizuna_changed), \(body)
            """
        self.sql = sql
    }

    /// The columns the answer needs, so that no right on others is asked for; nil stands for all of them.
    private static func neededColumns(_ query: RestQuery) -> [String?] {
        guard !query.select.isEmpty, !query.select.contains(.all) else { return [nil] }
        var names: [String] = []
        for case .field(let field, _, _) in query.select { names.append(field.name) }
        names += query.order.map(\.field.name)
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }
}
