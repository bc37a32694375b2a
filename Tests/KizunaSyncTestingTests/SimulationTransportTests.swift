import KizunaCore
import KizunaSyncTesting
import Synchronization
import Testing

@Suite struct SimulationTransportTests {
    private let get = WireRequest(method: "GET", url: "https://example.test/rest/v1/tasks")

    private func failure(_ transport: ScriptedTransport, _ request: WireRequest) async -> WireFailure? {
        do {
            _ = try await transport.send(request)
            return nil
        } catch {
            return error as? WireFailure
        }
    }

    @Test func queuedResponsesTakePrecedenceOverTheServer() throws {
        let get = get
        try Simulation.run { simulation in
            let transport = ScriptedTransport(simulation) { request in .json(#""\#(request.method)""#) }
            transport.enqueue(.json("1"), .json("2", status: 206))
            var responses: [String] = []
            for _ in 0..<3 {
                let response = try await transport.send(get)
                responses.append("\(response.status) \(String(decoding: response.body, as: UTF8.self))")
            }
            #expect(responses == ["200 1", "206 2", #"200 "GET""#])
            #expect(transport.unusedResponseCount == 0)
        }
    }

    @Test func aDelayTakesVirtualTime() throws {
        let get = get
        try Simulation.run { simulation in
            let transport = ScriptedTransport(simulation)
            transport.enqueue(.after(.seconds(2), .json("[]")), .after(.seconds(3), .fail(.init(.notSent, "x"))))
            _ = try await transport.send(get)
            #expect(simulation.elapsed == .seconds(2))
            #expect(await failure(transport, get) == WireFailure(.notSent, "x"))
            #expect(simulation.elapsed == .seconds(5))
            #expect(transport.sent.map(\.sentAt) == [.zero, .seconds(2)])
            #expect(transport.inFlightCount == 0)
        }
    }

    @Test func aHeldRequestWaitsForTheTest() throws {
        let get = get
        try Simulation.run { simulation in
            let transport = ScriptedTransport(simulation) { _ in .hold }
            let first = simulation.start { try await transport.send(get) }
            let heldFirst = await transport.nextHeld()
            let second = simulation.start { try await transport.send(get) }
            await simulation.advance(by: .seconds(5))
            let heldSecond = await transport.nextHeld()
            #expect(transport.inFlightCount == 2)
            #expect(heldSecond.fail(WireFailure(.outcomeUnknown, "cut")))
            #expect(heldFirst.respond(WireResponse(status: 204)))
            #expect(heldFirst.respond(WireResponse(status: 500)) == false)
            let response = try await first.value
            #expect(response.status == 204)
            await #expect(throws: WireFailure(.outcomeUnknown, "cut")) { try await second.value }
            #expect(transport.inFlightCount == 0)
        }
    }

    @Test func cancellingTheCallerEndsAHeldRequest() throws {
        let get = get
        try Simulation.run { simulation in
            let transport = ScriptedTransport(simulation) { _ in .hold }
            let task = simulation.start { try await transport.send(get) }
            let held = await transport.nextHeld()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(held.isSettled)
            #expect(simulation.elapsed == .zero)
        }
    }

    @Test func aHeldRequestTimesOut() throws {
        let get = get
        try Simulation.run { simulation in
            let transport = ScriptedTransport(simulation) { _ in .hold }
            #expect(await failure(transport, get)?.kind == .outcomeUnknown)
            #expect(simulation.elapsed == get.timeout)
        }
    }

    @Test func anOfflineRequestFailsAtOnceAndUsesNoScriptedResponse() throws {
        let get = get
        try Simulation.run { simulation in
            let transport = ScriptedTransport(simulation)
            transport.enqueue(.json("[]"))
            transport.plant(.dropResponse)
            transport.isOnline = false
            #expect(await failure(transport, get)?.kind == .notSent)
            #expect(transport.unusedResponseCount == 1)
            #expect(transport.sent.map(\.leftDevice) == [false])
            transport.isOnline = true
            #expect(await failure(transport, get)?.kind == .outcomeUnknown)
            #expect(transport.unusedResponseCount == 0)
        }
    }

    @Test(arguments: [(WireFault.dropBeforeHandling, 0), (.dropResponse, 1), (.refuseConnection, 0)])
    func faultsDecideWhetherTheServerSawTheRequest(_ fault: WireFault, _ handled: Int) throws {
        let get = get
        let seen = Atomic(0)
        try Simulation.run { simulation in
            let transport = ScriptedTransport(simulation) { _ in
                seen.add(1, ordering: .relaxed)
                return .json("[]")
            }
            transport.plant(fault)
            let kind = await failure(transport, get)?.kind
            #expect(kind == (fault == .refuseConnection ? .notSent : .outcomeUnknown))
            #expect(seen.load(ordering: .relaxed) == handled)
            let next = try await transport.send(get)
            #expect(next.status == 200)
        }
    }

    @Test func cuttingConnectionsFailsRequestsInFlight() throws {
        let get = get
        try Simulation.run { simulation in
            let transport = ScriptedTransport(simulation) { _ in .after(.seconds(1), .json("[]")) }
            let task = simulation.start { try await transport.send(get) }
            await simulation.settle()
            transport.cutConnections()
            await #expect(throws: WireFailure(.outcomeUnknown, "the connection was cut")) { try await task.value }
        }
    }

    @Test func aRequestWithoutAScriptedResponseFails() throws {
        let get = get
        try Simulation.run { simulation in
            let transport = ScriptedTransport(simulation)
            #expect(await failure(transport, get)?.reason == "no response is scripted for this GET")
        }
    }
}
