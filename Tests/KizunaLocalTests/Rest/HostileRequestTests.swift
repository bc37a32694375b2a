import Foundation
import KizunaCore
import KizunaLocal
import Testing

/// Requests that a correct client never sends: each gets a response of its own and the backend goes on.
@Suite struct HostileRequestTests {
    private static let path = "/rest/v1/tasks"

    private func with(_ body: (LocalBackend) async throws -> Void) async throws {
        let sql = "CREATE TABLE tasks (id bigint PRIMARY KEY, name text); INSERT INTO tasks VALUES (1, 'C1'), (2, 'C2')"
        try await TestBackend.with(.init(sql: [sql])) { (backend: LocalBackend) async throws in
            try await body(backend)
            let rest = try await backend.send("GET", Self.path + "?select=id")
            #expect(rest.json.elements.count == 2, "\(rest.text)")
        }
    }

    @Test func rangeParametersAtTheEndsOfIntegersAreAnswered() throws {
        #expect(try RowRange.parse(limit: .max, offset: 1, header: nil, method: "GET").offset == 1)
        for limit in [Int.min, -1] {
            let failure = #expect(throws: RestFailure.self) {
                try RowRange.parse(limit: limit, offset: .max, header: nil, method: "GET")
            }
            #expect(failure?.status == 416)
        }
        let failure = #expect(throws: RestFailure.self) { try RestQuery.parse("offset=99999999999999999999") }
        #expect(failure?.code == "22003")
        #expect(try RestQuery.parse("limit=-99999999999999999999").limit == .min)
    }

    @Test func deeplyNestedSelectIsRejected() {
        let failure = #expect(throws: RestFailure.self) {
            try SelectParser.parse(String(repeating: "a(", count: 4_800))
        }
        #expect(failure?.code == "PGRST100")
    }

    @Test func nulInARequestIsRejected() async throws {
        try await with { (backend: LocalBackend) async throws in
            for (method, target) in [
                ("GET", "?id=eq.1%00x"), ("DELETE", "?name=eq.C1%00zz"), ("GET", "?select=%22id%00%22"),
            ] {
                let response = try await backend.send(method, Self.path + target)
                #expect(response.status == 400 && response.json["code"]?.text == "22021", "\(response.text)")
            }
            let token = backend.token(subject: nil, role: "service_role\u{0}x")
            #expect(try await backend.send("GET", Self.path, token: token).status == 401)
            for body in [
                #"{"email":"a@b.c","password":"abcdef\u0000ghi"}"#, #"{"email":"a@b.c\u0000","password":"abcdef"}"#,
                #"{"email":"a@b.c","password":"abcdef","data":{"x":"\u0000"}}"#,
            ] {
                let response = try await backend.send("POST", "/auth/v1/signup", body)
                #expect(response.status == 400, "\(response.text)")
            }
        }
    }

    @Test func invalidUTF8IsRejected() async throws {
        try await with { (backend: LocalBackend) async throws in
            #expect(try await backend.send("GET", Self.path + "?name=eq.%FF").status == 400)
            let head =
                "Host: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 19\r\n\r\n"
            let bytes =
                Array("POST \(Self.path) HTTP/1.1\r\n\(head){\"id\":3,\"name\":\"".utf8) + [0xFF] + Array("\"}".utf8)
            let response = try await backend.client.sendRaw(bytes)
            #expect(response.status == 400 && response.json["code"]?.text == "PGRST102", "\(response.text)")
        }
    }

    @Test func timesBeyondTheRangeOfIntegersKeepTheirMeaning() async throws {
        try await with { (backend: LocalBackend) async throws in
            let signer = TokenSigner(secret: "a secret of its own for this test only")
            for (claim, isValid) in [
                (#""exp":9223372036854775807"#, true), (#""exp":1e400"#, true), (#""nbf":9223372036854775807"#, false),
                (#""nbf":1e400"#, false), (#""exp":-1e400"#, false),
            ] {
                let claims = try RawJSON(validating: Array("{\"role\":\"anon\",\(claim)}".utf8))
                let token = backend.token(claims: claims)
                #expect(
                    try await backend.send("GET", Self.path, token: token).status == (isValid ? 200 : 401), "\(claim)")
            }
            let response = try await backend.send("GET", Self.path, token: signer.token([]))
            #expect(response.json["message"]?.text == "No suitable key or wrong key type")
            #expect(response.json["details"]?.text == "None of the keys was able to decode the JWT")
        }
    }

    @Test func orderWithATrailingCharacterHasTheTextOfPostgREST() {
        let failure = #expect(throws: RestFailure.self) { try RestQuery.parse("order=id.asc.nullslasttt") }
        #expect(failure?.details == #"unexpected 't' expecting "," or end of input"#)
    }

    @Test func longTargetsForeignHostsAndFormsAreRejected() async throws {
        try await with { (backend: LocalBackend) async throws in
            let long = Self.path + "?name=eq." + String(repeating: "x", count: 17_000)
            #expect(try await backend.send("GET", long).status == 414)
            for (hosts, status) in [
                ("Host: attacker.example\r\n", 403), ("Host: 127.0.0.1.attacker.example\r\n", 403),
                ("Host: LOCALHOST:1\r\n", 200), ("Host: 127.0.0.1\r\nHost: 127.0.0.1\r\n", 400),
            ] {
                let request = "GET \(Self.path) HTTP/1.1\r\n\(hosts)Connection: close\r\n\r\n"
                #expect(try await backend.client.sendRaw(request).status == status, "\(hosts)")
            }
            let form = [("Content-Type", "application/x-www-form-urlencoded")]
            for path in ["/control/faults", "/auth/v1/signup"] {
                #expect(try await backend.client.send("POST", path, headers: form, body: "{}").status == 415)
            }
        }
    }

    @Test func controlInputIsChecked() async throws {
        try await with { (backend: LocalBackend) async throws in
            for body in [
                #"{"action":"truncate-answer","bytes":-5}"#, #"{"action":"truncate-answer","bytes":"x"}"#,
                #"{"action":"delay","milliseconds":-1}"#, #"{"action":"delay","milliseconds":9223372036854775807}"#,
                #"{"action":"cut","count":-9223372036854775808}"#, #"{"action":"cut","standing":1}"#,
                #"{"action":"cut","path":7}"#, #"{"action":"answer","status":200,"headers":{"X":"a\r\nY: b"}}"#,
            ] {
                #expect(try await backend.send("POST", "/control/faults", body).status == 400, "\(body)")
            }
            #expect(backend.control.faults.isEmpty)
        }
    }

    @Test func eachDatabaseHasASecretOfItsOwn() async throws {
        try await with { (first: LocalBackend) async throws in
            try await with { (second: LocalBackend) async throws in
                #expect(try await second.send("GET", Self.path, token: first.serviceRoleKey).status == 401)
            }
        }
    }
}
