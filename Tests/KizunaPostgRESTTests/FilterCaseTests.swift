import KizunaCore
import KizunaPostgREST
import TestSupport
import Testing

/// `filter-cases.json`: rows and filters with the recorded results of PostgreSQL.
@Suite struct FilterCaseTests {
    @Test func everyResultIsThatOfPostgreSQLOrUnknown() throws {
        let cases = try SpecCases.load("filter-cases.json").arrayElements()
        #expect(cases.count >= 300)
        var answered = 0
        for (index, spec) in cases.enumerated() {
            let columns = spec.list("columns")
            let row = RawJSON(
                members: columns.map {
                    .init(name: $0.text("name"), value: RawJSON(unchecked: Array($0.text("json").utf8)))
                })
            var types = TableTypes(patternEvaluation: .ascii)
            for column in columns {
                let type = column.text("type")
                types.columns[column.text("name")] =
                    type == "mood" ? .enumeration(FilterCaseGenerator.labels) : KizunaColumnType(rawValue: type)
            }
            let items = spec.list("filters").compactMap { pair -> QueryItem? in
                let texts = (try? pair.arrayElements().compactMap(\.stringValue)) ?? []
                return texts.count == 2 ? QueryItem(texts[0], texts[1]) : nil
            }
            let expression = FilterExpression(filters: items)
            let comment = Comment(rawValue: "case \(index): \(spec.list("filters").map(\.text)) on \(row.text)")
            let declared = expression.evaluate(RowView(row), in: types)
            let undeclared = expression.evaluate(RowView(row), in: TableTypes(patternEvaluation: .ascii))
            #expect("\(declared)" == spec.text("declared"), comment)
            #expect("\(undeclared)" == spec.text("undeclared"), comment)
            #expect(Self.allows(declared, spec.text("postgres")), comment)
            #expect(Self.allows(undeclared, spec.text("postgres")), comment)
            if declared != .unknown { answered += 1 }
        }
        #expect(answered > 250)
    }

    /// Whether a result equals that of PostgreSQL or is less specific. `null` also means "not true".
    private static func allows(_ truth: Truth, _ postgres: String) -> Bool {
        switch postgres {
        case "refused": true
        case "no": truth != .yes
        default: truth == .unknown || "\(truth)" == postgres
        }
    }
}
