internal import KizunaPostgREST
import Foundation
import KizunaCore
import KizunaSyncTesting
import Testing

/// Sends requests to a simulated server.
struct Caller {
    let server: SimulatedServer
    var token: String?

    func send(
        _ method: String, _ target: String, body: String? = nil, prefer: String? = nil, accept: String? = nil
    ) -> (status: Int, body: String, range: String?) {
        var headers = [WireHeader("apikey", "key")]
        if let token { headers.append(WireHeader("Authorization", "Bearer \(token)")) }
        if let prefer { headers.append(WireHeader("Prefer", prefer)) }
        if let accept { headers.append(WireHeader("Accept", accept)) }
        let response = server.respond(
            to: WireRequest(
                method: method, url: "https://project.example/rest/v1/\(target)", headers: headers,
                body: body.map { Array($0.utf8) }))
        return (response.status, String(decoding: response.body, as: UTF8.self), response.headers["content-range"])
    }
}

@Suite struct SimulatedServerReadTests {
    private func inServer(_ body: @escaping @Sendable (SimulatedServer, Caller) throws -> Void) throws {
        try Simulation.run { simulation in
            let server = SimulatedServer(simulation, tables: [SimulatedTable("tasks")])
            try server.insert(
                """
                [{"id":"a","title":"pear","rank":10,"done":false},{"id":"b","title":"apple","rank":9,"done":true},
                {"id":"c","title":"fig","rank":null,"done":false}]
                """, into: "tasks")
            try body(server, Caller(server: server))
        }
    }

    @Test func rowsAreInInsertionOrderWithoutAnOrderParameter() throws {
        try inServer { _, caller in
            #expect(caller.send("GET", "tasks?select=id").body == #"[{"id":"a"},{"id":"b"},{"id":"c"}]"#)
            #expect(
                caller.send("GET", "tasks?select=id&order=rank.asc").body == #"[{"id":"b"},{"id":"a"},{"id":"c"}]"#)
            #expect(
                caller.send("GET", "tasks?select=id&order=rank.desc.nullsfirst").body
                    == #"[{"id":"c"},{"id":"a"},{"id":"b"}]"#)
            #expect(caller.send("GET", "tasks?select=id&order=title").body == #"[{"id":"b"},{"id":"c"},{"id":"a"}]"#)
        }
    }

    @Test func filtersCompareByTheTypeOfTheJSONValue() throws {
        try inServer { _, caller in
            #expect(caller.send("GET", "tasks?select=id&done=eq.false").body == #"[{"id":"a"},{"id":"c"}]"#)
            #expect(caller.send("GET", "tasks?select=id&rank=gt.9").body == #"[{"id":"a"}]"#)
            #expect(caller.send("GET", "tasks?select=id&title=ilike.*P%25").body == #"[{"id":"a"},{"id":"b"}]"#)
            #expect(caller.send("GET", "tasks?select=id&id=in.(a,c)&rank=is.null").body == #"[{"id":"c"}]"#)
        }
    }

    @Test func contentRangeReflectsLimitMaxRowsAndCount() throws {
        try inServer { server, caller in
            #expect(caller.send("GET", "tasks?limit=2&offset=1").range == "1-2/*")
            #expect(caller.send("GET", "tasks", prefer: "count=exact").range == "0-2/3")
            server.maxRows = 2
            let capped = caller.send("GET", "tasks", prefer: "count=exact")
            #expect(capped.range == "0-1/3")
            #expect(capped.status == 206)
            #expect(caller.send("GET", "tasks?offset=3").range == "*/*")
            #expect(caller.send("GET", "tasks?offset=4", prefer: "count=exact").status == 416)
            let head = caller.send("HEAD", "tasks", prefer: "count=exact")
            #expect(head.body == "")
            #expect(head.range == "0-1/3")
        }
    }

    @Test func aResponseHasTheRequestedShape() throws {
        try inServer { _, caller in
            let object = "application/vnd.pgrst.object+json"
            #expect(caller.send("GET", "tasks?select=id&id=eq.b", accept: object).body == #"{"id":"b"}"#)
            let none = caller.send("GET", "tasks?id=eq.z", accept: object)
            #expect(none.status == 406)
            #expect(none.body.contains("PGRST116"))
            #expect(
                caller.send("GET", "tasks?select=id,title&rank=not.is.null", accept: "text/csv").body
                    == "id,title\na,pear\nb,apple")
        }
    }

    @Test func anUnknownTableOrColumnIsRejected() throws {
        try inServer { server, caller in
            #expect(caller.send("GET", "nothing").status == 404)
            #expect(caller.send("GET", "tasks?select=id::text").status == 501)
            server.outage = SimulatedRejection(503, code: "PGRST001", message: "no connection", retryAfter: 3)
            #expect(caller.send("GET", "tasks").status == 503)
            #expect(server.handled.map(\.status) == [404, 501, 503])
            #expect(server.requestCount("GET", table: "tasks") == 1)
        }
    }
}

@Suite struct SimulatedServerWriteTests {
    private func inServer(
        _ tables: [SimulatedTable], _ body: @escaping @Sendable (SimulatedServer, Caller) throws -> Void
    ) throws {
        try Simulation.run { simulation in
            let server = SimulatedServer(simulation, tables: tables)
            try body(server, Caller(server: server))
        }
    }

    @Test func insertUpdateAndDeleteRespondAsPreferredAndAreRecorded() throws {
        try inServer([SimulatedTable("tasks")]) { server, caller in
            let minimal = caller.send("POST", "tasks", body: #"{"id":"a","done":false}"#)
            #expect(minimal.status == 201)
            #expect(minimal.body == "")
            let many = caller.send(
                "POST", "tasks?columns=%22id%22,%22done%22", body: #"[{"id":"b","done":true,"x":1},{"id":"c"}]"#,
                prefer: "return=representation")
            #expect(many.body == #"[{"id":"b","done":true},{"id":"c","done":null}]"#)
            let changed = caller.send(
                "PATCH", "tasks?id=eq.a&select=done", body: #"{"done":true}"#, prefer: "return=representation")
            #expect(changed.status == 200)
            #expect(changed.body == #"[{"done":true}]"#)
            #expect(caller.send("DELETE", "tasks?done=eq.true").status == 204)
            #expect(server.rows(of: "tasks") == [#"{"id":"c","done":null}"#])
            #expect(
                server.mutations.map { "\($0.operation.rawValue) \($0.key)" }
                    == ["insert a", "insert b", "insert c", "update a", "delete a", "delete b"])
        }
    }

    @Test func aConstraintViolationRollsBackTheRequest() throws {
        try inServer([
            SimulatedTable("lists"),
            SimulatedTable(
                "tasks", uniqueColumns: [["title"]], references: ["list_id": "lists"],
                check: { $0["title"] == "" ? .checkViolation(table: "tasks", constraint: "title_check") : nil }),
        ]) { server, caller in
            try server.insert(#"{"id":"l"}"#, into: "lists")
            try server.insert(#"{"id":"a","title":"one","list_id":"l"}"#, into: "tasks")
            let cases = [
                (#"[{"id":"b","title":"two"},{"id":"a","title":"x"}]"#, 409, "23505", "tasks_pkey"),
                (#"[{"id":"b","title":"two"},{"id":"c","title":"one"}]"#, 409, "23505", "tasks_title_key"),
                (#"[{"id":"b","title":"two"},{"id":"c","list_id":"no"}]"#, 409, "23503", "tasks_list_id_fkey"),
                (#"[{"id":"b","title":"two"},{"id":"c","title":""}]"#, 400, "23514", "title_check"),
                (#"[{"id":"b","title":"two"},{"title":"c"}]"#, 400, "23502", "not-null"),
            ]
            for (body, status, code, words) in cases {
                let response = caller.send("POST", "tasks", body: body)
                #expect(response.status == status)
                #expect(response.body.contains("\"\(code)\""))
                #expect(response.body.contains(words))
            }
            #expect(caller.send("DELETE", "lists?id=eq.l").body.contains("23503"))
            #expect(server.rows(of: "tasks").count == 1)
            #expect(server.mutations.count == 2)
        }
    }

    @Test func anUpsertMergesOrIgnoresByTheKeyOrTheNamedColumns() throws {
        try inServer([SimulatedTable("tasks", uniqueColumns: [["title"]])]) { server, caller in
            try server.insert(#"{"id":"a","title":"one","n":1}"#, into: "tasks")
            let merged = caller.send(
                "POST", "tasks", body: #"[{"id":"a","n":2},{"id":"b","title":"two","n":3}]"#,
                prefer: "resolution=merge-duplicates,return=representation")
            #expect(merged.body == #"[{"id":"a","title":"one","n":2},{"id":"b","title":"two","n":3}]"#)
            let ignored = caller.send(
                "POST", "tasks?on_conflict=title", body: #"{"id":"z","title":"two","n":9}"#,
                prefer: "resolution=ignore-duplicates,return=representation")
            #expect(ignored.body == "[]")
            #expect(
                caller.send(
                    "POST", "tasks?on_conflict=n", body: "{}", prefer: "resolution=merge-duplicates"
                ).body.contains("42P10"))
            #expect(server.rows(of: "tasks").count == 2)
        }
    }

    @Test func anInsertedRowHasDefaultsAndAllDeclaredColumns() throws {
        var table = SimulatedTable("tasks", columns: ["id": .int8, "title": .text, "made": .text])
        table.defaults = ["id": { "\($0 + 1)" }, "made": { _ in #""now""# }]
        try inServer([table]) { server, caller in
            _ = caller.send("POST", "tasks", body: "{}")
            #expect(server.rows(of: "tasks") == [#"{"id":1,"made":"now","title":null}"#])
            #expect(caller.send("POST", "tasks", body: #"{"other":1}"#).body.contains("PGRST204"))
        }
    }
}

@Suite struct SimulatedServerSessionTests {
    @Test func rowLevelSecurityUsesTheUserOfTheToken() throws {
        try Simulation.run { simulation in
            let server = SimulatedServer(simulation, tables: [SimulatedTable("tasks", ownerColumn: "user_id")])
            let alice = Caller(server: server, token: TestToken.make(userID: "alice"))
            let bob = Caller(server: server, token: TestToken.make(userID: "bob"))
            let nobody = Caller(server: server, token: "key")
            #expect(alice.send("POST", "tasks", body: #"{"id":"a","user_id":"alice"}"#).status == 201)
            #expect(bob.send("POST", "tasks", body: #"{"id":"b","user_id":"alice"}"#).status == 403)
            #expect(nobody.send("POST", "tasks", body: #"{"id":"c","user_id":"alice"}"#).status == 401)
            #expect(alice.send("GET", "tasks?select=id").body == #"[{"id":"a"}]"#)
            #expect(bob.send("GET", "tasks").body == "[]")
            #expect(nobody.send("GET", "tasks").body == "[]")
            #expect(bob.send("DELETE", "tasks?id=eq.a", prefer: "return=representation").body == "[]")
            #expect(server.mutations.map(\.userID) == ["alice"])
        }
    }

    @Test func anExpiredTokenIsRejected() throws {
        try Simulation.run { simulation in
            let server = SimulatedServer(simulation, tables: [SimulatedTable("tasks")])
            let token = TestToken.make(userID: "alice", expiresAt: Simulation.startDate.addingTimeInterval(60))
            #expect(Caller(server: server, token: token).send("GET", "tasks").status == 200)
            await simulation.advance(by: .seconds(60))
            let late = Caller(server: server, token: token).send("GET", "tasks")
            #expect(late.status == 401)
            #expect(late.body.contains("JWT expired"))
        }
    }

    @Test func aResponseArrivesAfterTheLatencyOfTheServer() throws {
        try Simulation.run { simulation in
            let server = SimulatedServer(simulation, tables: [SimulatedTable("tasks")])
            server.latency = .milliseconds(80)
            let transport = ScriptedTransport(simulation)
            transport.serve(server)
            let request = WireRequest(method: "GET", url: "https://project.example/rest/v1/tasks")
            let response = try await transport.send(request)
            #expect(response.status == 200)
            #expect(simulation.elapsed == .milliseconds(80))
        }
    }
}
