import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

@Suite struct WriteCallTests {
    @Test func aCallWithSeveralRowsSendsOneRequest() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            let client = try await world.client()
            let receipt = try await client.from("items").insert([NewItem(title: "a"), NewItem(title: "b")])
            let rows = try await receipt.delivered().decode(as: Item.self)
            #expect(rows.map(\.title) == ["a", "b"])
            #expect(rows.map(\.id) == receipt.rowIDs)
            #expect(world.server.requestCount("POST") == 1)
        }
    }

    @Test func aRowWithoutAKeyGetsALowercaseUUIDv7() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            let client = try await world.client()
            let key = try #require(try await client.from("items").insert(NewItem(title: "a")).rowIDs.first)
            #expect(key.count == 36)
            #expect(key == key.lowercased())
            #expect(Array(key)[14] == "7")
            await simulation.advance(by: .milliseconds(1))
            let later = try #require(try await client.from("items").insert(NewItem(title: "b")).rowIDs.first)
            #expect(later > key)
        }
    }

    @Test func anUnfilteredWriteThrowsUnlessEveryRowIsAllowed() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            try world.server.insert(
                #"{"id":"0190aaaa-0000-7000-8000-000000000001","title":"x","done":false}"#, into: "items")
            let client = try await world.client()
            await #expect(throws: SyncError.self) { try await client.from("items").delete().execute() }
            await #expect(throws: SyncError.self) {
                try await client.from("items").update(["done": true]).execute()
            }
            #expect(try await client.outboxDepth() == 0)
            try await client.from("items").update(["done": true]).everyRow().execute().delivered()
            #expect(world.server.rows(of: "items").first?.contains(#""done":true"#) == true)
        }
    }

    @Test func aWriteThatCannotBeQueuedThrows() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            let client = try await world.client { $0.limits.mutationBytes = 64 }
            let table = client.from("items")
            func code(_ body: () async throws -> Void) async -> SyncError.Code? {
                do {
                    try await body()
                    return nil
                } catch {
                    return (error as? SyncError)?.code
                }
            }
            #expect(await code { try await table.insert(7) } == .notQueueable)
            #expect(await code { try await table.insert(["a", "b"]) } == .notQueueable)
            let long = String(repeating: "x", count: 80)
            #expect(await code { try await table.insert(NewItem(title: long)) } == .notQueueable)
            #expect(
                await code { try await table.update(["title": long]).eq("id", value: "a").execute() } == .notQueueable)
            #expect(await code { try await table.delete().eq("done", value: true).limit(1).execute() } == .notQueueable)
            #expect(await code { try await table.upsert(NewItem(title: "a"), onConflict: "slug") } == .notQueueable)
            #expect(try await client.outboxDepth() == 0)
            #expect(world.network.sent.isEmpty)
        }
    }

    /// The server reads `limit=eq.5` as a limit, so the write would change other rows.
    @Test(arguments: ["limit", "offset", "order", "select", "columns", "on_conflict", "things.limit"])
    func aFilterOnAReservedNameThrows(_ name: String) throws {
        try Simulation.run { simulation in
            let client = try await WriteWorld(simulation).client()
            let table = client.from("items")
            for write in [table.delete(), table.update(["done": true])] {
                let error = await #expect(throws: SyncError.self) {
                    try await write.eq("title", value: "x").eq(name, value: 5).execute()
                }
                #expect(error?.code == .notQueueable)
            }
            #expect(try await client.outboxDepth() == 0)
        }
    }

    @Test func aWriteToAFullQueueThrows() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            world.network.isOnline = false
            let client = try await world.client { $0.limits.pendingMutations = 2 }
            try await client.from("items").insert([NewItem(title: "a"), NewItem(title: "b")])
            await #expect(throws: SyncError.self) { try await client.from("items").insert(NewItem(title: "c")) }
            #expect(try await client.outboxDepth() == 2)
            world.network.isOnline = true
            try await client.sync()
            #expect(world.titles == ["a", "b"])
        }
    }

    @Test func aTransactionIsQueuedAllOrNone() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            let client = try await world.client()
            struct Stop: Error {}
            await #expect(throws: Stop.self) {
                try await client.write { tx in
                    try tx.insert(NewItem(title: "a"), into: "items")
                    throw Stop()
                }
            }
            #expect(try await client.outboxDepth() == 0)
            let receipt = try await client.write { tx in
                let item = try tx.insert(NewItem(title: "parent"), into: "items")
                try tx.insert(["item_id": item[0], "text": "child"], into: "notes")
                try tx.update("items", ["done": true]) { $0.eq("id", value: item[0]) }
            }
            #expect(receipt.mutationIDs.count == 3)
            try await receipt.delivered()
            #expect(world.server.rows(of: "items").count == 1)
            #expect(world.server.rows(of: "notes").count == 1)
            #expect(world.server.mutations.map(\.table) == ["items", "notes", "items"])
        }
    }

    @Test func theRestOfATransactionIsParkedWithARejectedMutation() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            let client = try await world.client()
            let receipt = try await world.rejectedTransaction(client)
            await simulation.settle()
            let rejected = try await WriteWorld.first(client.rejectedMutations) ?? []
            #expect(world.titles == ["first"])
            #expect(rejected.map(\.id) == Array(receipt.mutationIDs[1...]))
            #expect(rejected.map(\.dependsOn) == [nil, receipt.mutationIDs[1]])
        }
    }

    @Test func aTransactionWritesToOtherSchemas() throws {
        try Simulation.run { simulation in
            var table = SimulatedTable("logs", columns: ["id": .uuid, "line": .text])
            table.schema = "audit"
            let server = SimulatedServer(simulation, tables: [table])
            let network = ScriptedTransport(simulation)
            network.serve(server)
            let client = try await simulation.makeClient(network) {
                $0.tables = [KizunaTable("logs", schema: "audit", columns: ["id": .uuid, "line": .text])]
            }
            try await client.disableNetwork()
            let receipt = try await client.write { tx in
                let keys = try tx.insert([["line": "a"], ["line": "b"]], into: "logs", schema: "audit")
                try tx.upsert(["id": keys[0], "line": "c"], into: "logs", schema: "audit")
                try tx.update("logs", schema: "audit", ["line": "d"]) { $0.eq("id", value: keys[0]) }
                try tx.delete("logs", schema: "audit") { $0.eq("id", value: keys[1]) }
            }
            let pending = client.pendingMutations(table: "logs", schema: "audit")
            #expect(
                try await WriteWorld.first(pending)?.map(\.operation) == [.insert, .insert, .upsert, .update, .delete])
            #expect(try await WriteWorld.first(client.pendingMutations(table: "logs"))?.isEmpty == true)
            try await client.enableNetwork()
            try await receipt.delivered()
            let rows = try await client.from("logs", schema: "audit").select(as: [[String: String]].self).execute()
            #expect(rows.result?.map { $0["line"] } == ["d"])
        }
    }

    /// Many random keys begin with a digit.
    @Test(arguments: ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "507f1f77bcf86cd799439011"])
    func aWriteNamesItsRowByAnyTextKey(_ key: String) throws {
        try Simulation.run { simulation in
            let server = SimulatedServer(simulation, tables: [SimulatedTable("things")])
            let network = ScriptedTransport(simulation)
            network.serve(server)
            let client = try await simulation.makeClient(network)
            let receipt = try await client.from("things").update(["title": "x"]).eq("id", value: key).execute()
            #expect(receipt.rowIDs == [key])
            let error = await #expect(throws: SyncError.self) { try await receipt.delivered() }
            #expect(error?.server?.code == ServerFailure.noRowMatchedCode)
        }
    }

    /// All columns of the app's patch are nil.
    @Test func anUpdateWithoutColumnsIsDelivered() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            let key = "0190aaaa-0000-7000-8000-000000000001"
            try world.server.insert(#"{"id":"\#(key)","title":"served","done":false}"#, into: "items")
            let client = try await world.client()
            world.network.serve { request in
                if request.method == "PATCH" { return .json("[]") }
                return .respond(world.server.respond(to: request))
            }
            try await client.from("items").update([String: String]()).eq("id", value: key).execute().delivered()
            #expect(try await WriteWorld.first(client.rejectedMutations)?.isEmpty == true)
        }
    }
}
