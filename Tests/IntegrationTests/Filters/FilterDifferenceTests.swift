import KizunaCore
import KizunaLocal
import KizunaPostgREST
import KizunaSyncTesting
import KizunaTransport
import TestSupport
import Testing

/// Filters on rows, judged here and by a real PostgreSQL: where this device answers, PostgreSQL answers the same.
@Suite struct FilterDifferenceTests {
    @Test func recordedCasesAreWhatPostgreSQLSaysNow() async throws {
        let cases = try SpecCases.load("filter-cases.json").arrayElements()
        let questions = cases.map(Self.question)
        let rulings = try await Self.rulings(questions)
        #expect(cases.count >= 300)
        for (index, spec) in cases.enumerated() {
            let comment = Comment(
                rawValue: "case \(index): \(questions[index].condition) on \(rulings[index].row.text)")
            #expect(rulings[index].answer.rawValue == spec.text("postgres"), comment)
            let row = spec.list("columns").map { "\"\($0.text("name"))\":\($0.text("json"))" }
            #expect(rulings[index].row.text == "{\(row.joined(separator: ","))}", comment)
        }
        for isDeclared in [true, false] {
            #expect(FilterComparison(questions, rulings, isDeclared: isDeclared).wrong == [])
        }
    }

    /// In the order of texts that hosted projects have, and by code point.
    @Test(arguments: [(UInt64(1), 20_000, "en-US"), (2, 2_000, nil)])
    func generatedFiltersAreAnsweredAsPostgreSQLAnswers(_ seed: UInt64, _ count: Int, _ locale: String?) async throws {
        var generator = FilterCaseGenerator(seed: seed)
        let generated = (0..<count).map { _ in generator.next() }
        let questions = generated.map(FilterQuestion.init)
        let rulings = try await Self.rulings(questions, icuLocale: locale)
        #expect(rulings.count == count)
        let comment = Comment(rawValue: "seed \(seed)")
        // A condition that is no SQL would pass for a refused filter.
        #expect(rulings.filter { $0.code == "42601" }.count == 0, comment)
        #expect(rulings.filter { $0.answer == .refused }.count < count / 2, comment)
        let misread = zip(generated, rulings).filter { $0.row != $1.row }.map { "\($1.row.text) from \($0.row.text)" }
        #expect(misread == [], comment)
        for isDeclared in [true, false] {
            let comparison = FilterComparison(questions, rulings, isDeclared: isDeclared)
            #expect(comparison.wrong == [], comment)
            #expect(comparison.known > count / 5, comment)
        }
    }

    @Test func anEvaluatorThatIsWrongIsFoundOut() async throws {
        let questions = Self.questions(seed: 2, count: 1_000)
        let rulings = try await Self.rulings(questions)
        let faults: [(String, Evaluator)] = [
            ("unknown taken for no", { ownEvaluator($0, $1, $2) == .unknown ? .no : ownEvaluator($0, $1, $2) }),
            ("null taken for yes", { ownEvaluator($0, $1, $2) == .null ? .yes : ownEvaluator($0, $1, $2) }),
            (
                "lte taken for lt",
                { filters, row, types in
                    ownEvaluator(
                        filters.map { QueryItem($0.name, $0.value.replacing("lte.", with: "lt.")) }, row, types)
                }
            ),
            (
                "every column taken for text",
                { filters, row, types in
                    ownEvaluator(filters, row, TableTypes(columns: types.columns.mapValues { _ in .text }))
                }
            ),
        ]
        for (name, evaluator) in faults {
            let comparison = FilterComparison(questions, rulings, isDeclared: true, by: evaluator)
            #expect(!comparison.wrong.isEmpty, Comment(rawValue: name))
        }
    }

    /// The same rows in real tables, asked over HTTP: what the server shows is what the direct question said.
    @Test func aSampleOverHTTPShowsTheRowsPostgreSQLSaid() async throws {
        let questions = Self.questions(seed: 3, count: 300)
        let tables = questions.enumerated().map { "CREATE TABLE sample_\($0.offset) AS SELECT \($0.element.rowSQL);" }
        try await SharedCluster.withBackend(FilterJudge.setup, tables.joined(separator: "\n")) { backend in
            let rulings = try await FilterJudge(backend: backend).rulings(questions)
            let transport = PlatformTransport.http()
            var shown = 0
            for (index, (question, ruling)) in zip(questions, rulings).enumerated() {
                let query = question.filters.map(\.encoded).joined(separator: "&")
                let answer = try await transport.send(
                    WireRequest(
                        method: "GET", url: backend.url + "/rest/v1/sample_\(index)?" + query,
                        headers: [WireHeader("Authorization", "Bearer " + backend.serviceRoleKey)]))
                let body = String(decoding: answer.body, as: UTF8.self)
                let comment = Comment(rawValue: "\(query) on \(ruling.row.text): \(answer.status) \(body)")
                let expected: String? = ruling.isShown.map { $0 ? "[\(ruling.row.text)]" : "[]" }
                #expect((answer.status == 200 ? body : nil) == expected, comment)
                #expect(answer.status < 500, comment)
                if ruling.isShown == true { shown += 1 }
            }
            #expect(shown > 30)
        }
    }

    // MARK: - Support

    static func rulings(
        _ questions: [FilterQuestion], icuLocale: String? = "en-US"
    ) async throws -> [FilterRuling] {
        try await SharedCluster.withBackend(FilterJudge.setup, settings: LocalSettings(icuLocale: icuLocale)) {
            try await FilterJudge(backend: $0).rulings(questions)
        }
    }

    private static func questions(seed: UInt64, count: Int) -> [FilterQuestion] {
        var generator = FilterCaseGenerator(seed: seed)
        return (0..<count).map { _ in FilterQuestion(generator.next()) }
    }

    private static func question(_ spec: RawJSON) -> FilterQuestion {
        let columns = spec.list("columns")
        var types = TableTypes(patternEvaluation: .ascii)
        for column in columns {
            let type = column.text("type")
            types.columns[column.text("name")] =
                type == "mood" ? .enumeration(FilterCaseGenerator.labels) : KizunaColumnType(rawValue: type)
        }
        return FilterQuestion(
            filters: spec.list("filters").compactMap(QueryItem.init(pair:)),
            rowSQL: FilterQuestion.rowSQL(columns.map { ($0.text("name"), $0.text("type"), $0.text("sql")) }),
            condition: spec.text("sql"), types: types)
    }
}

extension QueryItem {
    /// A parameter as a case file writes it: `["done", "eq.true"]`.
    init?(pair: RawJSON) {
        let texts = (try? pair.arrayElements().compactMap(\.stringValue)) ?? []
        guard texts.count == 2 else { return nil }
        self.init(texts[0], texts[1])
    }
}
