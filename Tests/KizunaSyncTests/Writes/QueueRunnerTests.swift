import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

/// The queue of a client over a scripted transport.
@Suite struct QueueRunnerTests {
    private static func echo(_ request: WireRequest) -> ScriptedResponse {
        .json(String(decoding: request.body ?? [], as: UTF8.self), status: 201)
    }

    private static let duplicate = #"""
        {"code":"23505","details":"Key (id)=(k) already exists.","message":"duplicate key value violates unique constraint \"notes_pkey\""}
        """#

    @Test func aLoginPageWithStatus200IsNotADelivery() throws {
        try Simulation.run { simulation in
            let transport = ScriptedTransport(simulation) { Self.echo($0) }
            transport.enqueue(
                .respond(
                    WireResponse(
                        status: 200, headers: ["content-type": "text/html"], body: Array("<html>Log in</html>".utf8))))
            let client = try await simulation.makeClient(transport)
            let receipt = try await client.from("notes").insert(["id": "k", "title": "x"])
            #expect(try await receipt.delivered().rows.count == 1)
            #expect(transport.sent.count == 2)
        }
    }

    @Test func aRedirectToALoginPageIsNotARejection() throws {
        try Simulation.run { simulation in
            let transport = ScriptedTransport(simulation) { Self.echo($0) }
            for _ in 0..<6 {
                transport.enqueue(.respond(WireResponse(status: 302, headers: ["location": "https://portal.example"])))
            }
            let client = try await simulation.makeClient(transport)
            let receipt = try await client.from("notes").insert(["id": "k", "title": "x"])
            #expect(try await receipt.delivered().rows.count == 1)
            #expect(transport.sent.count == 7)
        }
    }

    @Test func aDuplicateAfterAGatewayTimeoutIsLookedUpByKey() throws {
        try Simulation.run { simulation in
            let transport = ScriptedTransport(simulation) { request in
                request.method == "GET" ? .json(#"[{"id":"k","title":"x"}]"#) : .json(Self.duplicate, status: 409)
            }
            transport.enqueue(.json("", status: 504))
            let client = try await simulation.makeClient(transport)
            let receipt = try await client.from("notes").insert(["id": "k", "title": "x"])
            #expect(try await receipt.delivered().rows.count == 1)
            #expect(transport.sent.map(\.request.method) == ["POST", "POST", "GET"])
        }
    }

    @Test func anInsertWithoutAKeyIsSentOnceAndRejectedAfterALostResponse() throws {
        try Simulation.run { simulation in
            let transport = ScriptedTransport(simulation) { Self.echo($0) }
            transport.plant(.dropResponse)
            let client = try await simulation.makeClient(transport) {
                $0.tables = [KizunaTable("notes", generatesKeys: false)]
            }
            let receipt = try await client.from("notes").insert(["title": "x"])
            let error = await #expect(throws: SyncError.self) { try await receipt.delivered() }
            #expect(error?.code == .rejected)
            #expect(error?.server?.code == ServerFailure.outcomeUnknownCode)
            #expect(transport.sent.map(\.request.method) == ["POST"])
        }
    }

    @Test func anUnreadableRowIsRecognizedByItsGeneratedKey() throws {
        try Simulation.run { simulation in
            let key = Mutex("")
            let transport = ScriptedTransport(simulation) { request in
                guard request.method == "POST" else { return .json("[]") }
                let text = String(decoding: request.body ?? [], as: UTF8.self)
                let id = text.split(separator: "\"").first { $0.count == 36 }.map(String.init) ?? ""
                let isFirst = key.withLock { key in
                    defer { key = id }
                    return key.isEmpty
                }
                return isFirst
                    ? .respond(WireResponse(status: 201))
                    : .json(
                        #"{"code":"23505","details":"Key (id)=(\#(id)) already exists.","message":"duplicate"}"#,
                        status: 409)
            }
            transport.plant(.dropResponse)
            let client = try await simulation.makeClient(transport)
            let receipt = try await client.from("notes").insert(["title": "x"])
            _ = try await receipt.delivered()
            #expect(transport.sent.map(\.request.method) == ["POST", "POST", "GET"])
        }
    }

    @Test func aTokenSetBeforeA401ResponseIsUsedAtOnce() throws {
        try Simulation.run { simulation in
            let transport = ScriptedTransport(simulation) { Self.echo($0) }
            transport.enqueue(.hold)
            let client = try await simulation.makeClient(transport)
            let (old, new) = (TestToken.make(userID: "u", serial: 1), TestToken.make(userID: "u", serial: 2))
            try await client.setAccessToken(old)
            let receipt = try await client.from("notes").insert(["id": "k", "title": "x"])
            let held = await transport.nextHeld()
            try await client.setAccessToken(new)
            held.respond(WireResponse(status: 401, body: Array(#"{"code":"PGRST303","message":"JWT expired"}"#.utf8)))
            _ = try await receipt.delivered()
            let bearers = transport.sent.map { sent in
                sent.request.headers.last { $0.name == "Authorization" }?.value
            }
            #expect(bearers == ["Bearer \(old)", "Bearer \(new)"])
        }
    }

    @Test func nothingIsSentAfterDisableNetwork() throws {
        try Simulation.run { simulation in
            let transport = ScriptedTransport(simulation) { Self.echo($0) }
            transport.isOnline = false
            let client = try await simulation.makeClient(transport)
            let receipt = try await client.from("notes").insert(["id": "k", "title": "x"])
            await simulation.settle()
            let before = transport.sent.count
            #expect(before == 1)
            try await client.disableNetwork()
            transport.isOnline = true
            await simulation.advance(by: .seconds(3600))
            #expect(transport.sent.count == before)
            try await client.enableNetwork()
            _ = try await receipt.delivered()
        }
    }

    @Test func discardOfAnInFlightMutationEndsItsWait() throws {
        try Simulation.run { simulation in
            let transport = ScriptedTransport(simulation) { Self.echo($0) }
            transport.enqueue(.hold)
            let client = try await simulation.makeClient(transport)
            let receipt = try await client.from("notes").insert(["id": "k", "title": "x"])
            let held = await transport.nextHeld()
            let wait = simulation.start { try await receipt.delivered() }
            await simulation.settle()
            try await client.discard(receipt.mutationIDs[0])
            await #expect(throws: SyncError.self) { try await wait.value }
            held.respond(WireResponse(status: 201, body: Array(#"[{"id":"k","title":"x"}]"#.utf8)))
            await simulation.advance(by: .seconds(60))
            #expect(transport.sent.filter { $0.request.method == "POST" }.count == 1)
        }
    }
}
