/// The rows of a payload as a `FROM` item named `kizuna_body`, and the values of its columns.
struct PayloadSource {
    let from: String
    let values: [String]

    init(_ payload: RowPayload, _ shape: TableShape, fillsDefaults: Bool, _ sql: inout SQLText) {
        let document = sql.bind(payload.json) + "::json"
        guard !payload.columns.isEmpty else {
            from = "json_array_elements(\(document)) AS kizuna_body"
            values = []
            return
        }
        let list = payload.columns.map { "\(SQLText.quoted($0)) \(shape.column($0)?.type ?? "text")" }
            .joined(separator: ", ")
        guard fillsDefaults else {
            from = "json_to_recordset(\(document)) AS kizuna_body(\(list))"
            values = payload.columns.map { "kizuna_body.\(SQLText.quoted($0))" }
            return
        }
        from = """
            json_array_elements(\(document)) AS kizuna_source(document), \
            LATERAL json_to_record(kizuna_source.document) AS kizuna_body(\(list))
            """
        var values: [String] = []
        for column in payload.columns {
            let value = "kizuna_body.\(SQLText.quoted(column))"
            if let fallback = shape.column(column)?.defaultExpression {
                // A key that is there with null stays null; only an absent one takes the default.
                let key = sql.bind(column)
                values.append("CASE WHEN kizuna_source.document::jsonb ? \(key) THEN \(value) ELSE \(fallback) END")
            } else {
                values.append(value)
            }
        }
        self.values = values
    }
}
