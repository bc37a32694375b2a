import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

@Suite struct CompactionTests {
    private func offline(_ world: WriteWorld, compacts: Bool = true) async throws -> KizunaSyncClient {
        world.network.isOnline = false
        return try await world.client { $0.compactsUnsentWrites = compacts }
    }

    @Test func anUpdateIsMergedIntoAnUnsentInsert() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            let client = try await offline(world)
            try await client.disableNetwork()
            let key = try await client.from("items").insert(NewItem(title: "a")).rowIDs[0]
            let reader = client.from("items").selectAsSequence(as: [Item].self).makeAsyncIterator()
            #expect(try await reader.next()?.result?.map(\.title) == ["a"])
            try await client.from("items").update(["title": "b"]).eq("id", value: key).execute()
            #expect(try await client.outboxDepth() == 1)
            #expect(try await reader.next()?.result?.map(\.title) == ["b"])
        }
    }

    @Test func aDeleteRemovesAnUnsentInsert() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            let client = try await offline(world)
            try await client.disableNetwork()
            let key = try await client.from("items").insert(NewItem(title: "a")).rowIDs[0]
            let delete = try await client.from("items").delete().eq("id", value: key).execute()
            #expect(try await client.outboxDepth() == 0)
            try await delete.delivered()
            world.network.isOnline = true
            try await client.enableNetwork()
            try await client.sync()
            #expect(world.server.requestCount("POST") == 0)
            #expect(world.server.requestCount("DELETE") == 0)
        }
    }

    @Test func aMergedUpdateIsAcceptedByAFullQueue() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            world.network.isOnline = false
            let client = try await world.client {
                $0.compactsUnsentWrites = true
                $0.limits.pendingMutations = 1
            }
            try await client.disableNetwork()
            let key = try await client.from("items").insert(NewItem(title: "a")).rowIDs[0]
            let error = await #expect(throws: SyncError.self) {
                try await client.from("items").insert(NewItem(title: "b"))
            }
            #expect(error?.code == .queueFull)
            try await client.from("items").update(["title": "c"]).eq("id", value: key).execute()
            #expect(try await client.outboxDepth() == 1)
            try await client.from("items").delete().eq("id", value: key).execute().delivered()
            #expect(try await client.outboxDepth() == 0)
        }
    }

    @Test func nothingIsMergedWithoutTheOption() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            let client = try await offline(world, compacts: false)
            try await client.disableNetwork()
            let key = try await client.from("items").insert(NewItem(title: "a")).rowIDs[0]
            try await client.from("items").update(["title": "b"]).eq("id", value: key).execute()
            #expect(try await client.outboxDepth() == 2)
        }
    }

    @Test func anUpdateBehindAMutationOfAnotherTableIsNotMerged() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            let client = try await offline(world)
            try await client.disableNetwork()
            let key = try await client.from("items").insert(NewItem(title: "a")).rowIDs[0]
            try await client.from("notes").insert(["item_id": key, "text": "n"])
            try await client.from("items").update(["title": "b"]).eq("id", value: key).execute()
            #expect(try await client.outboxDepth() == 3)
        }
    }

    @Test func aMergedUpdateHasTheOutcomeOfTheInsert() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            let client = try await offline(world)
            try await client.disableNetwork()
            let key = try await client.from("items").insert(NewItem(title: "a")).rowIDs[0]
            let update = try await client.from("items").update(["title": "b"]).eq("id", value: key).execute()
            world.network.isOnline = true
            try await client.enableNetwork()
            let rows = try await update.delivered().decode(as: Item.self)
            #expect(rows.map(\.title) == ["b"])
            #expect(world.server.requestCount("POST") == 1)
            #expect(world.server.requestCount("PATCH") == 0)
        }
    }
}
