import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

// The samples of docs/testing.md. The first one is a test of its own.

@Suite struct TestingSamples {
    @Test func aTaskMadeOfflineReachesTheServerOnce() throws {
        try Simulation.run { simulation in
            let server = SimulatedServer(simulation, tables: [SimulatedTable("tasks")])
            let network = ScriptedTransport(simulation)
            network.serve(server)
            let client = try await simulation.makeClient(network)

            network.isOnline = false
            let receipt = try await client.from("tasks").insert(["title": "works on a plane"])
            await simulation.advance(by: .seconds(3_600))
            #expect(try await client.outboxDepth() == 1)

            network.isOnline = true
            try await receipt.delivered()
            #expect(server.rows(of: "tasks").count == 1)
        }
    }

    func faults(_ network: ScriptedTransport, _ server: SimulatedServer) {
        network.plant(.dropResponse)  // the server handles the next request, its response is lost
        server.latency = .milliseconds(250)
        server.outage = SimulatedRejection(503, code: "PGRST001", message: "down", retryAfter: 30)
        network.enqueue(.json("<html>", status: 200))  // a proxy responds to the next one
    }

    func sessions(_ simulation: Simulation, _ network: ScriptedTransport) async throws {
        let session = FakeSession(.restoring)
        let client = try await simulation.makeClient(network) { configuration in
            configuration.session = session
        }
        session.signIn("ada")
        await client.close()
    }
}
