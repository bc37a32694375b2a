import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

/// The same seed gives the same run of a client, in every process: the expected order is written here.
@Suite struct SameSeedTests {
    private struct Row: Codable, Sendable, Equatable {
        var id: String
    }

    /// The order of the requests of six live reads, at the start and in a run after the network returns.
    private func requests(_ interleaving: Interleaving) throws -> [String] {
        try Simulation.run(seed: 7, interleaving: interleaving) { simulation in
            let network = ScriptedTransport(simulation)
            network.serve(SimulatedServer(simulation, tables: [SimulatedTable("tasks")]))
            let client = try await simulation.makeClient(network)
            let reads = (1...6).map { bound in
                SnapshotCollector(
                    client.from("tasks").selectAsSequence(as: [Row].self).gt("id", value: bound), in: simulation)
            }
            await simulation.advance(by: .seconds(1))
            try await client.disableNetwork()
            await simulation.advance(by: .seconds(60))
            try await client.enableNetwork()
            try await client.sync()
            await simulation.advance(by: .seconds(60))
            for read in reads { read.cancel() }
            return network.sent.map { String($0.request.url.suffix(1)) }
        }
    }

    @Test func sixLiveReadsAreSentInTheOrderOfJoining() throws {
        for _ in 0..<20 {
            #expect(try requests(.inOrder) == ["1", "2", "3", "4", "5", "6", "1", "2", "3", "4", "5", "6"])
        }
    }

    @Test func aShuffledRunRepeatsWithItsSeed() throws {
        let first = try requests(.shuffled)
        #expect(first.sorted() == ["1", "1", "2", "2", "3", "3", "4", "4", "5", "5", "6", "6"])
        for _ in 0..<20 { #expect(try requests(.shuffled) == first) }
    }
}
