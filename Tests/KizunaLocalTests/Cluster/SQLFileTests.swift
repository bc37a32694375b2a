import Foundation
import KizunaLocal
import Testing

@Suite struct SQLFileTests {
    private func with(_ sql: String, _ body: (String) async throws -> Void) async throws {
        let path = "/tmp/kizuna-test-\(ProcessInfo.processInfo.globallyUniqueString).sql"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try sql.write(toFile: path, atomically: true, encoding: .utf8)
        try await body(path)
    }

    @Test func dumpWithCopyDataAndBackslashCommandsLoads() async throws {
        let sql = """
            \\set ON_ERROR_STOP on
            CREATE TABLE public.tasks (id int PRIMARY KEY, name text);
            COPY public.tasks (id, name) FROM stdin;
            1\tone
            2\t\\N
            \\.
            CREATE INDEX CONCURRENTLY tasks_name ON public.tasks (name);
            """
        try await with(sql) { path in
            try await TestBackend.with(.init(sqlFiles: [path])) { (backend: LocalBackend) async throws in
                let response = try await backend.send("GET", "/rest/v1/tasks?order=id")
                #expect(response.json.elements.count == 2, "\(response.text)")
            }
        }
    }

    @Test func errorNamesFileLineAndStatement() async throws {
        try await with("CREATE TABLE a (id int);\n\nCREATE TABEL b (id int);\n") { path in
            let error = await #expect(throws: LocalError.self) {
                try await TestBackend.with(.init(sqlFiles: [path])) { _ in }
            }
            let text = error?.description ?? ""
            #expect(text.contains(path + ":3") && text.contains("CREATE TABEL"), "\(text)")
        }
    }

    @Test func unknownSchemaStopsTheStart() async throws {
        let error = await #expect(throws: LocalError.self) {
            try await TestBackend.with(.init(schemas: ["nosuch"])) { _ in }
        }
        #expect(error?.description.contains("nosuch") == true)
    }
}
