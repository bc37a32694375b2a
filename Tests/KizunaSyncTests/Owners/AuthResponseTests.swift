import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

/// What auth servers of several makes and ages answer, and what becomes of the session then.
@Suite struct AuthResponseTests {
    private static func session(of body: String) async throws -> AuthGrant {
        let transport = OneResponse(status: 200, body: body)
        let gateway = AuthGateway(base: "https://project.example", publishableKey: "key", transport: transport)
        return try await gateway.refresh("r")
    }

    private static func failure(_ status: Int, _ body: String) async throws -> SyncError {
        let transport = OneResponse(status: status, body: body)
        let gateway = AuthGateway(base: "https://project.example", publishableKey: "key", transport: transport)
        return try await #require(throws: SyncError.self) { try await gateway.refresh("r") }
    }

    @Test(arguments: [
        #"{"code":"refresh_token_not_found","message":"gone"}"#,
        #"{"code":400,"error_code":"refresh_token_not_found","msg":"gone"}"#,
        #"{"error":"invalid_grant","error_description":"gone"}"#,
    ])
    func thatASessionIsOverIsUnderstoodInEachForm(_ body: String) async throws {
        let failure = try await Self.failure(400, body)
        #expect(failure.endsSession)
        #expect(failure.server?.message == "gone")
        #expect(!failure.description.contains("gone"))
    }

    @Test(arguments: [
        (429, #"{"code":429,"error_code":"over_request_rate_limit","msg":"slow down"}"#),
        (500, #"{"code":"unexpected_failure","message":"database"}"#),
        (401, #"{"message":"Invalid API key"}"#), (403, "<html>proxy</html>"), (400, ""), (422, "[]"), (503, "null"),
    ])
    func anyOtherFailureIsNoEndOfTheSession(_ status: Int, _ body: String) async throws {
        let failure = try await Self.failure(status, body)
        #expect(!failure.endsSession)
        #expect(failure.server?.status == status)
    }

    @Test func aTokenHoldsAsLongAsTheAnswerOrElseTheTokenSays() async throws {
        let plain = TestToken.make(userID: "alice")
        // {"sub":"alice","iat":1000,"exp":1300}
        let dated = "e30.eyJzdWIiOiJhbGljZSIsImlhdCI6MTAwMCwiZXhwIjoxMzAwfQ.x"
        func lifetime(_ token: String, _ rest: String) async throws -> Duration {
            try await Self.session(of: #"{"access_token":"\#(token)","refresh_token":"r2"\#(rest)}"#).lifetime
        }
        #expect(try await lifetime(dated, #","expires_in":60"#) == .seconds(60))
        #expect(try await lifetime(plain, #","expires_in":1800.5"#) == .seconds(1800.5))
        #expect(try await lifetime(dated, "") == .seconds(300))
        #expect(try await lifetime(dated, #","expires_in":null"#) == .seconds(300))
        #expect(try await lifetime(plain, "") == .seconds(3600))
        #expect(try await lifetime(plain, #","expires_in":-5"#) == .zero)
        #expect(try await lifetime(plain, #","expires_in":1e300"#) == .seconds(31_536_000))
    }

    @Test func tokensThatHoldForNoTimeAreNotRefreshedInALoop() throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let world = try AuthScene(simulation, folder: folder, kept: "alice")
                world.server.lifetime = 0
                _ = try await world.client()
                await simulation.advance(by: .seconds(600))
                #expect((30...61).contains(world.server.refreshes.count))
                #expect(world.auth.userID == "alice")
            }
        }
    }

    @Test func aBusyServerIsLeftAloneAsLongAsItAsks() {
        var machine = SessionMachine()
        _ = machine.handle(.restored(KizunaAuthSession(userID: "alice", refreshToken: "r1")))
        let asked = machine.handle(
            .refreshFailed(generation: 1, isRejected: false, jitter: 1, retryAfter: .seconds(30)))
        #expect(asked.last == .startTimer(timer: 1, after: .seconds(30)))
        _ = machine.handle(.timerFired(timer: 1))
        let tooLong = machine.handle(
            .refreshFailed(generation: 1, isRejected: false, jitter: 1, retryAfter: .seconds(86_400)))
        #expect(tooLong.last == .startTimer(timer: 2, after: .seconds(600)))
    }
}

private struct OneResponse: WireTransport {
    let status: Int
    let body: String

    func send(_ request: WireRequest) async throws -> WireResponse {
        WireResponse(status: status, body: Array(body.utf8))
    }
}
