import KizunaCore
import KizunaPostgREST
import TestSupport
import Testing

/// Reads with the recorded results of PostgreSQL, evaluated on the same rows.
@Suite struct FixtureReadTests {
    /// The server writes a JSON null and an SQL null of a jsonb column in the same way; these results are unknown.
    private static let readsJSONNull = ["filter-jsonb-eq-json-null", "filter-jsonb-json-null-is-not-sql-null"]

    @Test func aKnownResultIsTheResultOfTheServer() throws {
        let tables = try SpecCases.load("fixture-rows.json")
        let reads = try SpecCases.load("fixture-reads.json").arrayElements()
        var exact = 0
        for read in reads {
            let table = try #require(tables.member(read.text("table")))
            var types = TableTypes(patternEvaluation: .ascii)
            for member in try table.member("types")?.objectMembers() ?? [] {
                types.columns[member.name] = member.value.stringValue.map(KizunaColumnType.init(rawValue:))
            }
            let expression = Self.expression(read)
            let rows = table.list("rows")
            let truths = rows.map { expression.evaluate(RowView($0), in: types) }
            let id = Comment(rawValue: read.text("id"))
            if read.text("local") == "server-error" { continue }
            if read.text("local") == "exact", !Self.readsJSONNull.contains(read.text("id")) {
                exact += 1
                #expect(!truths.contains(.unknown), id)
            }
            let admitted = zip(rows, truths).filter { $0.1 == .yes }.map { $0.0.member("id")?.text ?? "" }
            let possible = zip(rows, truths).filter { $0.1.isMatched != false }.map { $0.0.member("id")?.text ?? "" }
            if read.member("ids") != nil {
                let expected = Set(read.list("ids").map(\.text))
                #expect(Set(admitted).isSubset(of: expected), id)
                #expect(expected.isSubset(of: possible), id)
            } else {
                let count = Int(read.member("count")?.text ?? "") ?? -1
                #expect(admitted.count <= count && count <= possible.count, id)
            }
        }
        #expect(exact > 100)
    }

    @Test func aFilterThatTheServerRejectsIsUnknownOnEveryValue() throws {
        let tables = try SpecCases.load("fixture-rows.json")
        for read in try SpecCases.load("fixture-reads.json").arrayElements() where read.text("local") == "server-error"
        {
            let table = try #require(tables.member(read.text("table")))
            var types = TableTypes()
            for member in try table.member("types")?.objectMembers() ?? [] {
                types.columns[member.name] = member.value.stringValue.map(KizunaColumnType.init(rawValue:))
            }
            let expression = Self.expression(read)
            if expression.isEmpty { continue }
            for row in table.list("rows") {
                #expect(expression.evaluate(RowView(row), in: types) == .unknown, Comment(rawValue: read.text("id")))
            }
        }
    }

    private static func expression(_ read: RawJSON) -> FilterExpression {
        let items = read.list("filters").compactMap { pair -> QueryItem? in
            let texts = (try? pair.arrayElements().compactMap(\.stringValue)) ?? []
            return texts.count == 2 ? QueryItem(texts[0], texts[1]) : nil
        }
        return FilterExpression(filters: items, select: SelectList(parsing: read.text("select")))
    }
}
