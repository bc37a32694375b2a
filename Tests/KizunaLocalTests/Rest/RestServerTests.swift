import KizunaLocal
import Testing

@Suite struct RestServerTests {
    private static let sql = """
        CREATE TABLE notes (id int PRIMARY KEY, owner uuid DEFAULT auth.uid(), body text);
        ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
        CREATE POLICY own ON notes TO authenticated USING (owner = auth.uid()) WITH CHECK (owner = auth.uid());
        CREATE TABLE open (id int PRIMARY KEY, body text);
        INSERT INTO open SELECT i, 'row ' || i FROM generate_series(1, 5) AS s(i);
        """
    private let ada = "11111111-1111-1111-1111-111111111111"
    private let bo = "22222222-2222-2222-2222-222222222222"

    private func with(_ settings: LocalSettings = .init(), _ body: (LocalBackend) async throws -> Void) async throws {
        var settings = settings
        settings.sql = [Self.sql]
        try await TestBackend.with(settings, body)
    }

    @Test func rowPoliciesKeepUsersApart() async throws {
        try await with { (backend: LocalBackend) async throws in
            let hers = backend.token(subject: ada)
            let his = backend.token(subject: bo)
            #expect(try await backend.send("POST", "/rest/v1/notes", #"{"id":1}"#, token: hers).status == 201)
            #expect(try await backend.send("GET", "/rest/v1/notes", token: his).text == "[]")
            let theft = #"{"id":2,"owner":"\#(ada)"}"#
            #expect(try await backend.send("POST", "/rest/v1/notes", theft, token: his).status == 403)
            #expect(try await backend.send("POST", "/rest/v1/notes", #"{"id":3}"#).status == 401)
            let all = try await backend.send("GET", "/rest/v1/notes?select=id", token: backend.serviceRoleKey)
            #expect(all.text == #"[{"id":1}]"#)
        }
    }

    @Test func theKeyNamesTheRoleWhereThereIsNoToken() async throws {
        try await with { (backend: LocalBackend) async throws in
            let headers = [("apikey", backend.serviceRoleKey)]
            #expect(
                try await backend.send("POST", "/rest/v1/notes", #"{"id":1}"#, headers: headers).status == 201)
            let other = TokenSigner(secret: "other").token([])
            #expect(try await backend.send("GET", "/rest/v1/notes", headers: [("apikey", other)]).status == 401)
            #expect(
                try await backend.send("GET", "/rest/v1/notes", headers: [("apikey", "sb_publishable_x")]).status == 200
            )
        }
    }

    @Test func aNewTableAndANewColumnAreFoundAtOnce() async throws {
        try await with { (backend: LocalBackend) async throws in
            #expect(try await backend.send("GET", "/rest/v1/late").status == 404)
            // Not through `execute`, so that nothing but the missing name tells the backend.
            _ = try await backend.query("CREATE TABLE late (id int)")
            #expect(try await backend.send("POST", "/rest/v1/late", #"{"id":1}"#).status == 201)
            _ = try await backend.query("ALTER TABLE late ADD COLUMN extra text")
            #expect(try await backend.send("POST", "/rest/v1/late", #"{"id":2,"extra":"x"}"#).status == 201)
        }
    }

    @Test func aNotificationMakesTheCatalogueRead() async throws {
        try await with { (backend: LocalBackend) async throws in
            // Every connection of the pool is opened first: a new one makes the catalogue read in any case.
            let lock = try await TableLock("open", of: backend)
            try await withThrowingTaskGroup { group in
                for id in 11...14 {
                    group.addTask {
                        try await backend.send("POST", "/rest/v1/open", #"{"id":\#(id),"body":"new \#(id)"}"#).status
                    }
                }
                let waiting =
                    "SELECT count(*) AS n FROM pg_stat_activity WHERE usename = 'authenticator'"
                    + " AND datname = current_database() AND wait_event_type = 'Lock'"
                // Bounded: a request that failed never waits, and its status tells below.
                for _ in 0..<2_000 where try await backend.query(waiting).first?["n"] == "4" { break }
                try await lock.release()
                for try await status in group { #expect(status == 201) }
            }
            let upsert = [("Prefer", "resolution=merge-duplicates")]
            _ = try await backend.query("ALTER TABLE open DROP CONSTRAINT open_pkey")
            _ = try await backend.query("ALTER TABLE open ADD UNIQUE (body), ADD PRIMARY KEY (body)")
            let body = #"{"id":9,"body":"row 1"}"#
            // The old key is no longer unique, so the stale cache shows.
            #expect(try await backend.send("POST", "/rest/v1/open", body, headers: upsert).status == 400)
            _ = try await backend.query("NOTIFY pgrst, 'reload schema'")
            // PostgreSQL passes it on in its own time. Bounded: the status tells.
            var status = 0
            for _ in 0..<1_000 where status != 200 {
                status = try await backend.send("POST", "/rest/v1/open", body, headers: upsert).status
            }
            #expect(status == 200)
        }
    }

    @Test func pagesAreNoLargerThanTheServerLikes() async throws {
        try await with(.init(maxRows: 2)) { (backend: LocalBackend) async throws in
            let page = try await backend.send("GET", "/rest/v1/open?select=id&order=id&limit=4")
            #expect(page.json.elements.count == 2)
            let counted = try await backend.send("GET", "/rest/v1/open", headers: [("Prefer", "count=exact")])
            #expect(counted.status == 206)
            #expect(counted.header("Content-Range") == "0-1/5")
        }
    }

    @Test func plannedAndEstimatedCountsAreAnswered() async throws {
        try await with(.init(maxRows: 2)) { (backend: LocalBackend) async throws in
            _ = try await backend.query("ANALYZE open")
            for kind in ["planned", "estimated"] {
                let page = try await backend.send("HEAD", "/rest/v1/open", headers: [("Prefer", "count=\(kind)")])
                #expect(page.header("Content-Range") == "0-1/5", "\(kind)")
            }
        }
    }

    @Test func writesToAllRowsNeedAFilter() async throws {
        try await with { (backend: LocalBackend) async throws in
            let update = try await backend.send("PATCH", "/rest/v1/open", #"{"body":"x"}"#)
            #expect(update.status == 400 && update.json["code"]?.text == "21000")
            #expect(try await backend.send("DELETE", "/rest/v1/open").status == 400)
            #expect(try await backend.send("DELETE", "/rest/v1/open?id=gt.0").status == 204)
        }
    }

    @Test func whatIsNotServedYetSaysSo() async throws {
        try await with { (backend: LocalBackend) async throws in
            for path in ["/rest/v1/open?select=*,notes(*)", "/rest/v1/rpc/f", "/rest/v1/"] {
                let answer = try await backend.send("GET", path)
                #expect(answer.status == 501 && answer.json["code"]?.text == "KZ501", "\(path)")
            }
        }
    }

    @Test func largeBodiesAreRefusedWithoutKeepingThem() async throws {
        try await with(.init(bodyLimit: 1000)) { (backend: LocalBackend) async throws in
            let body = #"{"id":9,"body":"\#(String(repeating: "x", count: 200_000))"}"#
            #expect(try await backend.send("POST", "/rest/v1/open", body).status == 413)
            let chunks =
                String(repeating: "400\r\n" + String(repeating: "x", count: 1024) + "\r\n", count: 20) + "0\r\n\r\n"
            let chunked = try await backend.client.sendRaw(
                "POST /rest/v1/open HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + chunks)
            #expect(chunked.status == 413)
            #expect(try await backend.send("GET", "/rest/v1/open?select=id&id=eq.9").text == "[]")
        }
    }

    @Test(arguments: [
        "/rest/v1/open?id=eq.%00", "/rest/v1/open%00x", "/rest/v1/..%2f..%2fetc", "/rest/v1/open?select=%FF%FE",
        "/rest/v1/%22;drop%20table%20open", "/rest/v1/open?select=id::int)%20from%20pg_shadow--",
        "/rest/v1/open?order=id;drop", "/rest/v1/pg_catalog.pg_class", "/rest/v1//open//", "/rest/v1/open?%=%&==&&",
        "/rest/v1/open?limit=99999999999999999999&offset=-99999999999999999999", "/%2e%2e/", "//", "/rest/v1x/open",
    ])
    func hostilePathsGetAnOrdinaryAnswer(_ path: String) async throws {
        try await with { (backend: LocalBackend) async throws in
            let answer = try await backend.send("GET", path)
            #expect((200..<500).contains(answer.status), "\(answer.status) \(answer.text)")
            #expect(try await backend.query("SELECT count(*) AS n FROM open").first?["n"] == "5")
        }
    }

    @Test func aRequestThatWaitsDoesNotHoldUpOthers() async throws {
        try await with { (backend: LocalBackend) async throws in
            let lock = try await TableLock("open", of: backend)
            async let slow = backend.send("POST", "/rest/v1/open", #"{"id":6}"#)
            await backend.control.requests { $0.count == 1 }
            #expect(try await backend.send("GET", "/rest/v1/open?id=eq.1").status == 200)
            #expect(backend.control.requests.first?.outcome == .waiting)
            try await lock.release()
            #expect(try await slow.status == 201)
        }
    }

    @Test func aLostDatabaseConnectionIsMadeAgain() async throws {
        try await with { (backend: LocalBackend) async throws in
            #expect(try await backend.send("GET", "/rest/v1/open").status == 200)
            let end = """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE usename = 'authenticator' AND datname = current_database()
                """
            _ = try await backend.query(end)
            var statuses: [Int] = []
            for _ in 0..<12 { statuses.append(try await backend.send("GET", "/rest/v1/open").status) }
            #expect(statuses.last == 200)
            #expect(Set(statuses).isSubset(of: [200, 503]))
        }
    }
}
