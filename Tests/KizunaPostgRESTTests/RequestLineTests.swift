import KizunaCore
import KizunaPostgREST
import TestSupport
import Testing

/// Each builder call has the request line that supabase-swift sends.
@Suite struct RequestLineTests {
    @Test func everyCallHasTheRequestLineOfSupabaseSwift() throws {
        let lines = try SpecCases.load("request-lines.json").arrayElements()
        #expect(lines.count == RequestCalls.all.count)
        #expect(lines.count >= 120)
        for (line, entry) in zip(lines, RequestCalls.all) {
            #expect(line.text("call") == entry.source)
            let request = entry.call(PlainBuilder()).request
            #expect("\(request.method) \(request.target)" == line.text("line"), Comment(rawValue: entry.source))
        }
    }

    @Test func headersCarryTheShapeTheSchemaAndThePreferences() {
        func headers(_ builder: PlainBuilder) -> [String] { builder.request.headers.map { "\($0.name): \($0.value)" } }
        let tasks = PlainBuilder()
        #expect(headers(tasks) == ["Accept: application/json", "Accept-Profile: public"])
        #expect(headers(PlainBuilder(schema: "other"))[1] == "Accept-Profile: other")
        #expect(headers(tasks.single())[0] == "Accept: application/vnd.pgrst.object+json")
        #expect(headers(tasks.maybeSingle())[0] == "Accept: application/vnd.pgrst.object+json")
        #expect(headers(tasks.csv())[0] == "Accept: text/csv")
        #expect(headers(tasks.geojson())[0] == "Accept: application/geo+json")
        #expect(headers(tasks.stripNulls())[0] == "Accept: application/vnd.pgrst.array+json;nulls=stripped")
        #expect(headers(tasks.stripNulls().single())[0] == "Accept: application/vnd.pgrst.object+json;nulls=stripped")
        #expect(
            headers(tasks.explain(analyze: true, wal: true, format: .json))[0]
                == "Accept: application/vnd.pgrst.plan+json; for=\"application/json\"; options=analyze|wal;")
        #expect(headers(tasks.select(count: .planned).dryRun())[2] == "Prefer: count=planned,tx=rollback")
        #expect(headers(tasks.maxAffected(1).maxAffected(2))[2] == "Prefer: handling=strict,max-affected=2")
    }

    @Test func aTableNameStaysInOnePathSegment() {
        #expect(PlainBuilder("odd names").request.target == "/odd%20names?select=%2A")
        #expect(PlainBuilder("rpc/drop?x").request.target == "/rpc%2Fdrop%3Fx?select=%2A")
    }

    @Test func aGenericFunctionAcceptsEveryBuilder() {
        func applied<Request: OfflinePostgrestFilterBuilder>(to request: Request) -> Request {
            request.neq("done", value: true)
        }
        #expect(applied(to: PlainBuilder()).request.queryText == "select=%2A&done=neq.true")
    }

    @Test func anObjectWithNaNHasAnEmptyFilterText() {
        #expect(["x": Double.nan].filterText == "")
    }
}
