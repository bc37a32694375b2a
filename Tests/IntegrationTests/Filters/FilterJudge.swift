import KizunaCore
import KizunaLocal
import KizunaPostgREST
import TestSupport

/// A row and a filter on it, once as it is sent and once as SQL.
struct FilterRequest: Sendable {
    let filters: [QueryItem]
    /// The row, as what stands after `SELECT`.
    let rowSQL: String
    /// The filters as an SQL condition on the row.
    let condition: String
    let types: TableTypes
    /// Whether a column holds the JSON value null, which a row writes like the SQL null. Without the type it counts as
    /// that, since the REST interface never stores it (docs/decisions/030-nulls-of-undeclared-columns.md).
    var holdsJSONNull = false

    init(_ generated: FilterCase) {
        filters = generated.filters
        rowSQL = Self.rowSQL(generated.columns.map { ($0.name, $0.sqlType, $0.sqlValue) })
        condition = generated.sqlCondition
        types = generated.types()
        holdsJSONNull = generated.columns.contains { $0.json == "null" && $0.sqlValue != "NULL" }
    }

    init(filters: [QueryItem], rowSQL: String, condition: String, types: TableTypes) {
        self.filters = filters
        self.rowSQL = rowSQL
        self.condition = condition
        self.types = types
    }

    static func rowSQL(_ columns: [(name: String, type: String, value: String)]) -> String {
        columns.map { "CAST(\($0.value) AS \($0.type)) AS \($0.name)" }.joined(separator: ", ")
    }
}

/// What a real PostgreSQL said of a question.
struct FilterDecision: Sendable {
    enum Response: String, Sendable {
        case yes
        case no
        case null
        /// The word of `Tests/SpecCases`.
        case rejected = "refused"
    }

    let response: Response
    /// The SQLSTATE of a refusal.
    let code: String?
    /// The row as PostgreSQL writes it.
    let row: RawJSON

    /// Whether a row is shown by a read with this filter; nil where there is no answer.
    var isShown: Bool? { response == .rejected ? nil : response == .yes }

    /// Whether a device may say this. `null` also stands for "not true"; of a refused request nothing is ever shown.
    func allows(_ truth: Truth) -> Bool {
        switch response {
        case .rejected: true
        case .no: truth != .yes
        case .yes, .null: truth == .unknown || "\(truth)" == response.rawValue
        }
    }
}

/// Asks a real PostgreSQL many questions in one statement.
struct FilterJudge {
    /// A refusal ends its own question alone.
    static let setup = """
        CREATE TYPE mood AS ENUM ('\(FilterCaseGenerator.labels.joined(separator: "', '"))');
        CREATE FUNCTION judge(source text, condition text, OUT "row" json, OUT answer text, OUT code text)
        LANGUAGE plpgsql SET timezone = 'UTC' AS $$
        DECLARE truth boolean;
        BEGIN
          EXECUTE format('SELECT row_to_json(t) FROM (SELECT %s) AS t', source) INTO "row";
          BEGIN
            EXECUTE format('SELECT %s FROM (SELECT %s) AS t', condition, source) INTO truth;
            answer := CASE truth WHEN true THEN 'yes' WHEN false THEN 'no' ELSE 'null' END;
          EXCEPTION WHEN OTHERS THEN
            answer := 'refused';
            code := SQLSTATE;
          END;
        END $$;
        """

    let backend: LocalBackend

    func decisions(_ questions: [FilterRequest]) async throws -> [FilterDecision] {
        var decisions: [FilterDecision] = []
        for start in stride(from: 0, to: questions.count, by: 1_000) {
            let part = questions[start..<min(start + 1_000, questions.count)]
            let texts = part.map {
                RawJSON(elements: [RawJSON(string: $0.rowSQL), RawJSON(string: $0.condition)])
            }
            let responses = try await backend.query(
                """
                SELECT judged.* FROM json_array_elements($1::json) WITH ORDINALITY AS asked(pair, number),
                LATERAL judge(asked.pair->>0, asked.pair->>1) AS judged ORDER BY asked.number
                """, [RawJSON(elements: texts).text])
            decisions += try responses.map { response in
                FilterDecision(
                    response: FilterDecision.Response(rawValue: response["answer"] ?? "") ?? .rejected,
                    code: response["code"],
                    row: try RawJSON(validating: Array((response["row"] ?? "").utf8)))
            }
        }
        return decisions
    }
}

/// An evaluator of filters: the one of this package, or one made wrong to see it found out.
typealias Evaluator = @Sendable ([QueryItem], RowView, TableTypes) -> Truth

let ownEvaluator: Evaluator = { filters, row, types in FilterExpression(filters: filters).evaluate(row, in: types) }

/// What an evaluator said of questions that PostgreSQL ruled on.
struct FilterComparison {
    /// Answers that are not PostgreSQL's.
    private(set) var wrong: [String] = []
    private(set) var known = 0
    private(set) var unknown = 0

    /// `isDeclared` says whether the evaluator is told the columns' types.
    init(
        _ questions: [FilterRequest], _ decisions: [FilterDecision], isDeclared: Bool,
        by evaluate: Evaluator = ownEvaluator
    ) async {
        for (number, (question, decision)) in zip(questions, decisions).enumerated()
        where isDeclared || !question.holdsJSONNull {
            // Tests beside this one wait for real servers and must get their turns.
            if number % 50 == 0 { await Task.yield() }
            let types = isDeclared ? question.types : TableTypes(patternEvaluation: question.types.patternEvaluation)
            let truth = evaluate(question.filters, RowView(decision.row), types)
            if truth == .unknown { unknown += 1 } else { known += 1 }
            guard !decision.allows(truth) else { continue }
            let text = question.filters.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
            let kinds = isDeclared ? types.columns.map { "\($0.key) \($0.value.rawValue)" }.sorted() : ["undeclared"]
            wrong.append(
                "\(truth) where PostgreSQL says \(decision.response): \(text) on \(decision.row.text) \(kinds)")
        }
    }
}
