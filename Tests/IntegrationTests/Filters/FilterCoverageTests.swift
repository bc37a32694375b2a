import KizunaCore
import KizunaPostgREST
import TestSupport
import Testing

/// How often this device does not know what PostgreSQL knows: seldom, for the types apps filter by.
@Suite struct FilterCoverageTests {
    private static let comparisons = [
        ("neq", "<>"), ("lte", "<="),
    ]

    private static let numbers = ["0", "-1", "5", "32767", "100"]
    private static let fractions = ["0", "-2.25", "1.5", "1.50", "1e2", "NaN", "Infinity"]
    private static let days = ["2024-02-29", "1970-01-01", "9999-12-31", "2024-02-29T12:00:00.000Z"]
    private static let moments =
        days + [
            "2024-02-29T12:00:00Z", "2024-02-29T12:00:00.123456+00:00", "2024-02-29T14:00:00+02:00",
            "2024-02-29T12:00:00", "2024-02-29 12:00:00",
        ]

    /// As the SDK writes an app's values, nothing is unknown where the column's type is declared.
    @Test(arguments: [
        ("bool", ["true", "false"]), ("int2", numbers), ("int4", numbers), ("int8", numbers), ("numeric", fractions),
        ("float4", fractions), ("float8", fractions),
        ("uuid", ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"]),
        ("date", days), ("timestamp", moments), ("timestamptz", moments),
    ])
    func nothingAnAppSendsIsUnknown(_ type: String, _ operands: [String]) async throws {
        let pool = try #require(ValuePool.all.first { $0.sqlType == type })
        #expect(try await Self.unknownShare(type, pool.values, operands) == 0)
    }

    /// Of whatever PostgreSQL takes for an operand, odd spellings too (`20240229`, `now`, `0x10`), at most so many of a
    /// hundred questions are unknown.
    @Test(arguments: [
        ("bool", 0.0), ("int2", 0), ("int4", 0), ("int8", 0), ("numeric", 0), ("float4", 3), ("float8", 3),
        ("uuid", 0), ("date", 16), ("timestamp", 17), ("timestamptz", 17),
    ])
    func unknownIsRare(_ type: String, _ bound: Double) async throws {
        let pool = try #require(ValuePool.all.first { $0.sqlType == type })
        let share = try await Self.unknownShare(type, pool.values, pool.operands)
        #expect(share <= bound, Comment(rawValue: "\(type): \(share) %"))
    }

    private static func unknownShare(
        _ type: String, _ values: [(String, String)], _ operands: [String]
    ) async throws -> Double {
        let types = TableTypes(columns: ["c": KizunaColumnType(rawValue: type)])
        var questions: [FilterRequest] = []
        for value in values + [("NULL", "null")] {
            let row = FilterRequest.rowSQL([("c", type, value.0)])
            for operand in operands {
                let literal = WireFormat.sqlLiteral(operand)
                for (word, symbol) in comparisons {
                    questions.append(
                        FilterRequest(
                            filters: [QueryItem("c", "\(word).\(operand)")], rowSQL: row,
                            condition: "c \(symbol) \(literal)", types: types))
                }
            }
        }
        let decisions = try await FilterDifferenceTests.decisions(questions)
        let answered = zip(questions, decisions).filter { $0.1.response != .rejected }
        #expect(answered.count > 10)
        let comparison = await FilterComparison(answered.map(\.0), answered.map(\.1), isDeclared: true)
        #expect(comparison.wrong == [])
        return Double(comparison.unknown * 100) / Double(answered.count)
    }
}
