import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

/// The look-up of many inserts after a lost response.
@Suite struct RowLookupTests {
    @Test(arguments: [(nil, 3), (10, 251)] as [(Int?, Int)])
    func aHundredRowsAreLookedUpPerRequest(cap: Int?, lookUps: Int) throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            world.server.maxRows = cap
            let client = try await world.client()
            try await client.disableNetwork()
            let receipt = try await client.from("items").insert((1...250).map { NewItem(title: "t\($0)") })
            world.network.plant(.dropResponse)
            try await client.enableNetwork()
            let rows = try await receipt.delivered().decode(as: Item.self)
            #expect(rows.map(\.id) == receipt.rowIDs)
            #expect(world.server.requestCount("POST") == 2)
            #expect(world.server.requestCount("GET") == lookUps)
            #expect(world.server.rows(of: "items").count == 250)
        }
    }

    @Test func keysThatNeedQuotesAreLookedUpInOneRequest() throws {
        try Simulation.run { simulation in
            let server = SimulatedServer(simulation, tables: [SimulatedTable("things", columns: ["id": .text])])
            let network = ScriptedTransport(simulation)
            network.serve(server)
            let client = try await simulation.makeClient(network)
            try await client.disableNetwork()
            let keys = ["a,b", "c)d", " e", "f\"g", "plain", "", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"]
            let receipt = try await client.from("things").insert(keys.map { ["id": $0] })
            network.plant(.dropResponse)
            try await client.enableNetwork()
            try await receipt.delivered()
            #expect(server.rows(of: "things").count == keys.count)
            #expect(server.requestCount("POST") == 2)
        }
    }
}
