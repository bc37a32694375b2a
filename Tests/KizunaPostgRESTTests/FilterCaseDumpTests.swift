import Foundation
import KizunaCore
import KizunaPostgREST
import Testing

/// Writes generated cases with this device's answers, for a comparison with a real PostgreSQL.
@Suite struct FilterCaseDumpTests {
    private static let target = ProcessInfo.processInfo.environment["KIZUNA_FILTER_CASES_OUT"]

    @Test(.enabled(if: target != nil, "set KIZUNA_FILTER_CASES_OUT to a file to write generated cases"))
    func generatedCasesAreWrittenForPostgreSQL() throws {
        let path = try #require(Self.target)
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["KIZUNA_SEED"].flatMap(UInt64.init) ?? 1
        let count = environment["KIZUNA_COUNT"].flatMap(Int.init) ?? 20_000
        var generator = FilterCaseGenerator(seed: seed)
        var lines = ""
        for _ in 0..<count {
            let generated = generator.next()
            let expression = FilterExpression(filters: generated.filters)
            let view = RowView(generated.row)
            let untyped = TableTypes(patternEvaluation: .ascii)
            let answer: [(String, RawJSON)] = [
                ("columns", RawJSON(elements: generated.columns.map(Self.json))),
                ("filters", RawJSON(elements: generated.filters.map { RawJSON(string: "\($0.name)=\($0.value)") })),
                ("sql", RawJSON(string: generated.sqlCondition)),
                ("typed", RawJSON(string: "\(expression.evaluate(view, in: generated.types()))")),
                ("untyped", RawJSON(string: "\(expression.evaluate(view, in: untyped))")),
                ("unread", RawJSON(string: "\(expression.readsUnknownColumns)")),
            ]
            lines += RawJSON(members: answer.map { .init(name: $0.0, value: $0.1) }).text + "\n"
        }
        try lines.write(toFile: path, atomically: true, encoding: .utf8)
    }

    private static func json(_ column: FilterCase.Column) -> RawJSON {
        let texts = [column.name, column.sqlType, column.sqlValue, column.json]
        return RawJSON(elements: texts.map { RawJSON(string: $0) })
    }
}
