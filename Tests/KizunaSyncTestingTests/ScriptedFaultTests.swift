import KizunaCore
import KizunaSyncTesting
import Testing

@Suite struct ScriptedFaultTests {
    private let get = WireRequest(method: "GET", url: "https://example.test/rest/v1/tasks", timeout: .seconds(5))

    private func outcome(_ network: ScriptedTransport) async -> String {
        do {
            return "\(try await network.send(get).status)"
        } catch let failure as WireFailure {
            return "\(failure.kind)"
        } catch {
            return "\(error)"
        }
    }

    private func outcomes(seed: UInt64) throws -> [String] {
        try Simulation.run(seed: seed) { simulation in
            let network = ScriptedTransport(simulation) { _ in .json("[]") }
            network.plantRandomFaults(0.5)
            var outcomes: [String] = []
            for _ in 0..<40 { outcomes.append(await outcome(network)) }
            return outcomes
        }
    }

    @Test func randomFaultsFollowFromTheSeed() throws {
        let first = try outcomes(seed: 3)
        #expect(Set(first) == ["200", "notSent", "outcomeUnknown"])
        #expect(try outcomes(seed: 3) == first)
        #expect(try outcomes(seed: 4) != first)
    }

    @Test func clearedFaultsDoNotHappen() throws {
        try Simulation.run { simulation in
            let network = ScriptedTransport(simulation) { _ in .json("[]") }
            network.plantRandomFaults(1)
            network.plant(.refuseConnection)
            network.clearFaults()
            #expect(await outcome(network) == "200")
        }
    }

    @Test func aDelayBeforeHandlingOutlivesTheTimeoutOfTheRequest() throws {
        try Simulation.run { simulation in
            let handledAt = SimulatedServer(simulation, tables: [SimulatedTable("tasks")])
            let network = ScriptedTransport(simulation)
            network.serve(handledAt)
            network.delayBeforeHandling = .seconds(8)
            #expect(await outcome(network) == "outcomeUnknown")
            #expect(simulation.elapsed == .seconds(5))
            #expect(handledAt.handled.isEmpty)
            await simulation.advance(by: .seconds(4))
            #expect(handledAt.handled.map(\.arrivedAt) == [.seconds(8)])
        }
    }

    @Test func aDelayAfterHandlingDelaysTheResponse() throws {
        try Simulation.run { simulation in
            let server = SimulatedServer(simulation, tables: [SimulatedTable("tasks")])
            let network = ScriptedTransport(simulation)
            network.serve(server)
            network.delayAfterHandling = .seconds(2)
            #expect(await outcome(network) == "200")
            #expect(server.handled.map(\.arrivedAt) == [.zero])
            #expect(simulation.elapsed == .seconds(2))
        }
    }
}
