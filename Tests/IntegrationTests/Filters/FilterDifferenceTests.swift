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
        let decisions = try await Self.decisions(questions)
        #expect(cases.count >= 300)
        for (index, spec) in cases.enumerated() {
            let comment = Comment(
                rawValue: "case \(index): \(questions[index].condition) on \(decisions[index].row.text)")
            #expect(decisions[index].response.rawValue == spec.text("postgres"), comment)
            let row = spec.list("columns").map { "\"\($0.text("name"))\":\($0.text("json"))" }
            #expect(decisions[index].row.text == "{\(row.joined(separator: ","))}", comment)
        }
        for isDeclared in [true, false] {
            #expect(await FilterComparison(questions, decisions, isDeclared: isDeclared).wrong == [])
        }
    }

    /// In the order of texts that hosted projects have, and by code point. The slow tests ask ten times as many.
    @Test(arguments: [(UInt64(1), "en-US"), (2, nil)])
    func generatedFiltersAreAnsweredAsPostgreSQLResponses(_ seed: UInt64, _ locale: String?) async throws {
        try await Self.compare(seed: seed, count: 2_000, locale)
    }

    @Test func anEvaluatorThatIsWrongIsFoundOut() async throws {
        let questions = Self.questions(seed: 2, count: 1_000)
        let decisions = try await Self.decisions(questions)
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
            let comparison = await FilterComparison(questions, decisions, isDeclared: true, by: evaluator)
            #expect(!comparison.wrong.isEmpty, Comment(rawValue: name))
        }
    }

    /// The same rows in real tables, asked over HTTP: what the server shows is what the direct question said.
    @Test func aSampleOverHTTPShowsTheRowsPostgreSQLSaid() async throws {
        let questions = Self.questions(seed: 3, count: 300)
        let tables = questions.enumerated().map { "CREATE TABLE sample_\($0.offset) AS SELECT \($0.element.rowSQL);" }
        try await SharedCluster.withBackend(FilterJudge.setup, tables.joined(separator: "\n")) { backend in
            let decisions = try await FilterJudge(backend: backend).decisions(questions)
            let transport = PlatformTransport.http()
            var shown = 0
            for (index, (question, decision)) in zip(questions, decisions).enumerated() {
                let query = question.filters.map(\.encoded).joined(separator: "&")
                let response = try await transport.send(
                    WireRequest(
                        method: "GET", url: backend.url + "/rest/v1/sample_\(index)?" + query,
                        headers: [WireHeader("Authorization", "Bearer " + backend.serviceRoleKey)]))
                let body = String(decoding: response.body, as: UTF8.self)
                let comment = Comment(rawValue: "\(query) on \(decision.row.text): \(response.status) \(body)")
                let expected: String? = decision.isShown.map { $0 ? "[\(decision.row.text)]" : "[]" }
                #expect((response.status == 200 ? body : nil) == expected, comment)
                #expect(response.status < 500, comment)
                if decision.isShown == true { shown += 1 }
            }
            #expect(shown > 30)
        }
    }

    // MARK: - Support

    static func compare(seed: UInt64, count: Int, _ locale: String?) async throws {
        var generator = FilterCaseGenerator(seed: seed)
        let generated = (0..<count).map { _ in generator.next() }
        let questions = generated.map(FilterRequest.init)
        let decisions = try await Self.decisions(questions, icuLocale: locale)
        #expect(decisions.count == count)
        let comment = Comment(rawValue: "seed \(seed)")
        // A condition that is no SQL would pass for a refused filter.
        #expect(decisions.filter { $0.code == "42601" }.count == 0, comment)
        #expect(decisions.filter { $0.response == .rejected }.count < count / 2, comment)
        let misread = zip(generated, decisions).filter { $0.row != $1.row }.map { "\($1.row.text) from \($0.row.text)" }
        #expect(misread == [], comment)
        for isDeclared in [true, false] {
            let comparison = await FilterComparison(questions, decisions, isDeclared: isDeclared)
            #expect(comparison.wrong == [], comment)
            #expect(comparison.known > count / 5, comment)
        }
    }

    static func decisions(
        _ questions: [FilterRequest], icuLocale: String? = "en-US"
    ) async throws -> [FilterDecision] {
        try await SharedCluster.withBackend(FilterJudge.setup, settings: LocalSettings(icuLocale: icuLocale)) {
            try await FilterJudge(backend: $0).decisions(questions)
        }
    }

    private static func questions(seed: UInt64, count: Int) -> [FilterRequest] {
        var generator = FilterCaseGenerator(seed: seed)
        return (0..<count).map { _ in FilterRequest(generator.next()) }
    }

    private static func question(_ spec: RawJSON) -> FilterRequest {
        let columns = spec.list("columns")
        var types = TableTypes(patternEvaluation: .ascii)
        for column in columns {
            let type = column.text("type")
            types.columns[column.text("name")] =
                type == "mood" ? .enumeration(FilterCaseGenerator.labels) : KizunaColumnType(rawValue: type)
        }
        return FilterRequest(
            filters: spec.list("filters").compactMap(QueryItem.init(pair:)),
            rowSQL: FilterRequest.rowSQL(columns.map { ($0.text("name"), $0.text("type"), $0.text("sql")) }),
            condition: spec.text("sql"), types: types)
    }
}

@Suite struct FilterDifferenceSlowTests {
    @Test(arguments: [(UInt64(20_000), "en-US"), (20_001, nil)])
    func twentyThousandGeneratedFiltersAreAnsweredAsPostgreSQLAnswers(
        _ seed: UInt64, _ locale: String?
    ) async throws {
        try await FilterDifferenceTests.compare(seed: seed, count: 20_000, locale)
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
