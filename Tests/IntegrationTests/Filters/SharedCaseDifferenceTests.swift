import Foundation
import KizunaCore
import KizunaLocal
import KizunaPostgREST
import KizunaTransport
import TestSupport
import Testing

/// The reads of the shared case file, asked of a real server and answered here row by row.
@Suite struct SharedCaseDifferenceTests {
    /// A JSON null and an SQL null of a jsonb column are written alike, so that these stay unknown here.
    private static let readsJSONNull = ["filter-jsonb-eq-json-null", "filter-jsonb-json-null-is-not-sql-null"]

    @Test func rowsAreShownWhereThisDeviceSaysSo() async throws {
        let file = try SpecCases.load("cases.json", of: "KizunaLocalTests/Fixtures")
        let fixture = try #require(file.member("fixture"))
        let settings = LocalSettings(
            sql: [fixture.list("sql").compactMap(\.stringValue).joined(separator: "\n")],
            schemas: ["public", "other"])
        try await SharedCluster.withBackend(settings: settings) { backend in
            let server = SharedCaseServer(backend: backend)
            var exact = 0
            let reads = try SharedRead.cases(file) + SharedRead.recorded()
            for read in reads {
                let comment = Comment(rawValue: "\(read.id): \(read.filters.map(\.encoded))")
                let types = try await server.types(of: read.table)
                let expression = FilterExpression(filters: read.filters, select: SelectList(parsing: read.select))
                let rows = try #require(try await server.rows(of: read.table), comment)
                let truths = rows.map { expression.evaluate(RowView($0), in: types) }
                guard let shown = try await server.rows(of: read.table, where: read.filters) else {
                    // The server refuses the filters, alone or without the table they name.
                    #expect(read.local != "exact", comment)
                    if read.local == "server-error" {
                        #expect(zip(rows, truths).allSatisfy { $0.1 != .yes }, comment)
                    }
                    continue
                }
                var rest = shown
                for (row, truth) in zip(rows, truths) {
                    let at = rest.firstIndex(of: row)
                    if let at { rest.remove(at: at) }
                    if let isMatched = truth.isMatched { #expect(isMatched == (at != nil), comment) }
                }
                #expect(rest == [], comment)
                guard read.local == "exact", !Self.readsJSONNull.contains(read.id) else { continue }
                #expect(!truths.contains(.unknown), comment)
                exact += 1
            }
            #expect(reads.count > 450)
            #expect(exact > 250)
        }
    }
}

/// One read of a case file.
private struct SharedRead {
    let id: String
    let table: String
    let select: String
    let filters: [QueryItem]
    /// What a client may decide alone.
    let local: String

    /// The cases of the shared file that say what a client may decide.
    static func cases(_ file: RawJSON) -> [SharedRead] {
        file.list("cases").compactMap { spec in
            guard spec.member("local") != nil, spec.text("method") == "GET" else { return nil }
            let path = spec.text("path").split(separator: "?")[0].dropFirst()
            var request = TableRequest(table: String(path).removingPercentEncoding ?? "")
            for item in spec.list("query").compactMap(QueryItem.init(pair:)) { request.append(item.name, item.value) }
            let select = request.items.last { $0.name == "select" }?.value ?? "*"
            return SharedRead(
                id: spec.text("id"), table: request.table, select: select, filters: request.filters,
                local: spec.text("local"))
        }
    }

    static func recorded() throws -> [SharedRead] {
        try SpecCases.load("fixture-reads.json").arrayElements().map { read in
            SharedRead(
                id: read.text("id"), table: read.text("table"), select: read.text("select"),
                filters: read.list("filters").compactMap(QueryItem.init(pair:)), local: read.text("local"))
        }
    }
}

/// The fixture's tables on a real server.
private struct SharedCaseServer {
    let backend: LocalBackend
    private let transport = PlatformTransport.http()

    init(backend: LocalBackend) { self.backend = backend }

    /// The rows a read with these filters shows, nil where the server refuses them.
    func rows(of table: String, where filters: [QueryItem] = []) async throws -> [RawJSON]? {
        let path = table.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? ""
        let response = try await transport.send(
            WireRequest(
                method: "GET",
                url: backend.url + "/rest/v1/\(path)?" + filters.map(\.encoded).joined(separator: "&"),
                headers: [WireHeader("Authorization", "Bearer " + backend.serviceRoleKey)]))
        #expect(response.status < 500)
        guard response.status == 200 else { return nil }
        return try RawJSON(validating: response.body).arrayElements()
    }

    /// The columns' types from the catalogue.
    func types(of table: String) async throws -> TableTypes {
        let columns = try await backend.query(
            """
            SELECT attname, CASE typtype WHEN 'e' THEN 'enum' ||
              (SELECT json_agg(enumlabel ORDER BY enumsortorder)::text FROM pg_enum WHERE enumtypid = atttypid)
              ELSE format_type(atttypid, atttypmod) END AS type
            FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
            WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped
            """, ["public.\"\(table)\""])
        var types = TableTypes(patternEvaluation: .ascii)
        for column in columns {
            types.columns[column["attname"] ?? ""] = KizunaColumnType(rawValue: column["type"] ?? "")
        }
        return types
    }
}
