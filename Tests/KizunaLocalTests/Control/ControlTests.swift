import KizunaLocal
import Testing

@Suite struct ControlTests {
    private static let table = "CREATE TABLE notes (id int PRIMARY KEY, body text)"
    private static let path = "/rest/v1/notes"

    private func with(_ body: (LocalBackend) async throws -> Void) async throws {
        try await TestBackend.with(.init(sql: [Self.table]), body)
    }

    private func insert(_ backend: LocalBackend, _ id: Int = 1) async throws -> RawClient.Answer {
        try await backend.send("POST", Self.path, #"{"id":\#(id),"body":"x"}"#)
    }

    private func count(_ backend: LocalBackend) async throws -> String? {
        try await backend.query("SELECT count(*) AS n FROM notes").first?["n"]
    }

    @Test func aDroppedAnswerHasBeenCommitted() async throws {
        try await with { (backend: LocalBackend) async throws in
            backend.control.add(FaultRule(.dropAnswer, method: "POST", path: Self.path))
            await #expect(throws: RawClient.Fault.ended(bodyBytes: 0)) { try await insert(backend) }
            #expect(try await count(backend) == "1")
            #expect(backend.control.requests.map(\.outcome) == [.answerLost(201)])
            #expect(try await insert(backend).status == 409)
        }
    }

    @Test func aDroppedRequestHasNotBeenDone() async throws {
        try await with { (backend: LocalBackend) async throws in
            backend.control.add(FaultRule(.dropRequest, method: "POST", path: Self.path))
            await #expect(throws: RawClient.Fault.ended(bodyBytes: 0)) { try await insert(backend) }
            #expect(try await count(backend) == "0")
            #expect(backend.control.requests.map(\.outcome) == [.cut])
            #expect(try await insert(backend).status == 201)
        }
    }

    @Test func aCutConnectionHasNotBeenRead() async throws {
        try await with { (backend: LocalBackend) async throws in
            backend.control.add(FaultRule(.cutConnection, path: Self.path))
            await #expect(throws: RawClient.Fault.ended(bodyBytes: 0)) { try await insert(backend) }
            #expect(try await count(backend) == "0")
            #expect(backend.control.requests.map(\.outcome) == [.cut])
        }
    }

    @Test func aTruncatedAnswerEndsInTheMiddle() async throws {
        try await with { (backend: LocalBackend) async throws in
            _ = try await insert(backend)
            backend.control.add(FaultRule(.truncateAnswer(bytes: 7), path: Self.path))
            await #expect(throws: RawClient.Fault.ended(bodyBytes: 7)) { try await backend.send("GET", Self.path) }
            #expect(try await backend.send("GET", Self.path).status == 200)
        }
    }

    @Test func aGivenAnswerStandsForTheRealOne() async throws {
        try await with { (backend: LocalBackend) async throws in
            let answer = HTTPAnswer(status: 503, headers: [HTTPHeader("Retry-After", "2")], body: Array("busy".utf8))
            backend.control.add(FaultRule(.answer(answer), path: "/rest", count: 2))
            for _ in 0..<2 {
                let got = try await insert(backend)
                #expect(got.status == 503 && got.text == "busy" && got.header("Retry-After") == "2")
            }
            #expect(try await count(backend) == "0")
            #expect(try await insert(backend).status == 201)
        }
    }

    @Test func aDelayedRequestIsDoneAfterTheTime() async throws {
        try await with { (backend: LocalBackend) async throws in
            backend.control.add(FaultRule(.delay(.milliseconds(80)), path: Self.path))
            let start = ContinuousClock.now
            #expect(try await insert(backend).status == 201)
            #expect(ContinuousClock.now - start >= .milliseconds(79))
        }
    }

    @Test func aHeldRequestIsDoneWhenItIsReleased() async throws {
        try await with { (backend: LocalBackend) async throws in
            let rule = backend.control.add(FaultRule(.hold, method: "POST", path: Self.path))
            async let answer = insert(backend)
            await backend.control.requests { $0.first?.outcome == .held }
            #expect(try await count(backend) == "0")
            // Others pass meanwhile.
            #expect(try await backend.send("GET", Self.path).status == 200)
            backend.control.release(rule)
            #expect(try await answer.status == 201)
        }
    }

    @Test func aHeldAnswerHasBeenCommitted() async throws {
        try await with { (backend: LocalBackend) async throws in
            backend.control.add(FaultRule(.holdAnswer, method: "POST", path: Self.path))
            async let answer = insert(backend)
            await backend.control.requests { $0.first?.outcome == .held }
            #expect(try await count(backend) == "1")
            backend.control.release()
            #expect(try await answer.status == 201)
        }
    }

    @Test func withTheNetworkOffEveryConnectionIsCut() async throws {
        try await with { (backend: LocalBackend) async throws in
            backend.control.add(FaultRule(.hold, method: "POST", path: Self.path))
            async let held = insert(backend)
            await backend.control.requests { $0.first?.outcome == .held }
            backend.control.isNetworkOn = false
            do {
                _ = try await held
                Issue.record("the request was answered without a network")
            } catch {
                #expect(error as? RawClient.Fault == .ended(bodyBytes: 0))
            }
            await #expect(throws: RawClient.Fault.self) { try await backend.send("GET", Self.path) }
            await #expect(throws: RawClient.Fault.self) { try await backend.send("GET", "/auth/v1/health") }
            #expect(backend.control.requests.map(\.outcome) == [.cut, .cut, .cut])
            backend.control.isNetworkOn = true
            #expect(try await backend.send("GET", Self.path).status == 200)
        }
    }

    @Test func rulesApplyInTheirOrderAndUntilTheirCount() async throws {
        try await with { (backend: LocalBackend) async throws in
            let standing = backend.control.add(
                FaultRule(.answer(HTTPAnswer(status: 500)), method: "GET", path: Self.path, count: nil))
            backend.control.add(FaultRule(.answer(HTTPAnswer(status: 501)), method: "GET", path: Self.path))
            for _ in 0..<3 { #expect(try await backend.send("GET", Self.path).status == 500) }
            #expect(try await backend.send("GET", "/rest/v1/other").status == 404)
            backend.control.removeFault(standing)
            #expect(try await backend.send("GET", Self.path + "?id=eq.1").status == 501)
            #expect(try await backend.send("GET", Self.path).status == 200)
            #expect(backend.control.faults.isEmpty)
        }
    }

    @Test func theControlIsServedOverHTTPEvenWithoutANetwork() async throws {
        try await with { (backend: LocalBackend) async throws in
            let added = try await backend.send(
                "POST", "/control/faults", #"{"action":"answer","status":418,"path":"/rest","body":{"tea":1}}"#)
            #expect(added.status == 201)
            #expect(try await backend.send("GET", Self.path).text == #"{"tea":1}"#)
            _ = try await backend.send("POST", "/control/faults", #"{"action":"drop-answer","standing":true}"#)
            #expect(try await backend.send("GET", "/control/faults").json.elements.count == 1)
            #expect(try await backend.send("DELETE", "/control/faults").status == 204)
            #expect(try await backend.send("PUT", "/control/network", #"{"on":false}"#).status == 204)
            await #expect(throws: RawClient.Fault.self) { try await backend.send("GET", Self.path) }
            #expect(try await backend.send("GET", "/control/network").json["on"] == .boolean(false))
            #expect(try await backend.send("PUT", "/control/network", #"{"on":true}"#).status == 204)
            let log = try await backend.send("GET", "/control/requests").json.elements
            #expect(log.map { $0["outcome"]?.text } == ["answered", "cut"])
            for (method, path, body) in [
                ("POST", "/control/faults", #"{"action":"odd"}"#), ("PUT", "/control/network", "{}"),
                ("GET", "/control/odd", nil), ("GET", "/control", nil), ("GET", "/control/faults/x/y", nil),
            ] {
                #expect(try await backend.send(method, path, body).status >= 400)
            }
        }
    }

    @Test(arguments: [FaultAction.hold, .holdAnswer])
    func aClientThatGoesAwayHarmsNobody(_ action: FaultAction) async throws {
        try await with { (backend: LocalBackend) async throws in
            for step in 1...3 {
                let fault = backend.control.add(FaultRule(action, method: "POST", path: Self.path))
                let left = try backend.client.abandon("POST", Self.path, body: #"{"id":\#(step)}"#)
                await backend.control.requests { $0.count { $0.outcome == .held } == 1 }
                left.leave()
                if step == 1 {
                    backend.control.release(fault)
                } else {
                    // The network switch cuts what is gone already.
                    backend.control.isNetworkOn = false
                    backend.control.isNetworkOn = true
                    backend.control.removeFault()
                }
                await backend.control.requests { !$0.contains { $0.outcome == .held || $0.outcome == .waiting } }
            }
            #expect(try await backend.send("GET", Self.path).status == 200)
        }
    }

    @Test func webPagesCannotReachTheControl() async throws {
        try await with { (backend: LocalBackend) async throws in
            let answer = try await backend.send(
                "PUT", "/control/network", #"{"on":false}"#, headers: [("Origin", "https://example.com")])
            #expect(answer.status == 403)
            #expect(backend.control.isNetworkOn)
        }
    }
}
