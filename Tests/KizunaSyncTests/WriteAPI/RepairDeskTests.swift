import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

@Suite struct RepairDeskTests {
    /// Returns a client with one rejected insert, and the rejection.
    private func rejected(_ world: WriteWorld) async throws -> (KizunaSyncClient, RejectedMutation) {
        let client = try await world.client()
        let receipt = try await client.from("items").insert(NewItem(title: ""))
        await #expect(throws: SyncError.self) { try await receipt.delivered() }
        let rejected = try #require(try await WriteWorld.first(client.rejectedMutations)?.first)
        return (client, rejected)
    }

    @Test func aRejectionKeepsTheServersReason() throws {
        try Simulation.run { simulation in
            let (client, rejected) = try await rejected(WriteWorld(simulation))
            #expect(rejected.failure.code == "23514")
            #expect(rejected.failure.constraint == "title_not_empty")
            #expect(rejected.failure.status == 400)
            #expect(rejected.mutation.operation == .insert)
            #expect(try await client.outboxDepth() == 0)
        }
    }

    @Test func anEditedMutationIsDelivered() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            let (client, rejected) = try await rejected(world)
            try await client.edit(rejected.id, ["title": "better"])
            let rows = try await client.receipt(mutationID: rejected.id).delivered()
            #expect(try rows.decode(as: Item.self).map(\.title) == ["better"])
            #expect(try await WriteWorld.first(client.rejectedMutations)?.isEmpty == true)
        }
    }

    @Test func anEditQueuesTheParkedMutationsAgain() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            world.network.isOnline = false
            let client = try await world.client()
            let receipt = try await client.from("items").insert(NewItem(title: ""))
            let patch = try await client.from("items").update(["done": true]).eq("id", value: receipt.rowIDs[0])
                .execute()
            world.network.isOnline = true
            await #expect(throws: SyncError.self) { try await patch.delivered() }
            let rejected = try await WriteWorld.first(client.rejectedMutations) ?? []
            #expect(rejected.map(\.id) == receipt.mutationIDs + patch.mutationIDs)
            #expect(rejected.map(\.dependsOn) == [nil, receipt.mutationIDs[0]])
            try await client.edit(receipt.mutationIDs[0], ["title": "now"])
            try await client.sync()
            #expect(world.server.rows(of: "items").first?.contains(#""done":true"#) == true)
        }
    }

    @Test func aDiscardedRejectionIsRemoved() throws {
        try Simulation.run { simulation in
            let (client, rejected) = try await rejected(WriteWorld(simulation))
            try await client.discard(rejected.id)
            #expect(try await WriteWorld.first(client.rejectedMutations)?.isEmpty == true)
            await #expect(throws: SyncError.self) { try await client.discard(rejected.id) }
        }
    }

    @Test func aPendingMutationCanBeDiscarded() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            world.network.isOnline = false
            let client = try await world.client()
            let receipt = try await client.from("items").insert(NewItem(title: "a"))
            let waiting = simulation.start { try await receipt.delivered() }
            await simulation.settle()
            try await client.discard(receipt.mutationIDs[0])
            await #expect(throws: SyncError.self) { try await waiting.value }
            world.network.isOnline = true
            await simulation.advance(by: .seconds(120))
            #expect(world.titles.isEmpty)
        }
    }

    @Test func anUpdateThatMatchesNoRowIsRejected() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            let client = try await world.client()
            let key = "0190aaaa-0000-7000-8000-000000000009"
            let receipt = try await client.from("items").update(["done": true]).eq("id", value: key).execute()
            do {
                try await receipt.delivered()
                Issue.record("the update was delivered")
            } catch let error as SyncError {
                #expect(error.server?.code == ServerFailure.noRowMatchedCode)
            }
            // A delete of a missing row is delivered.
            try await client.from("items").delete().eq("id", value: key).execute().delivered()
        }
    }

    @Test func anOutcomeIsKeptAfterARestart() throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let world = WriteWorld(simulation)
                let first = try await world.client(folder: folder)
                let good = try await first.from("items").insert(NewItem(title: "kept"))
                try await good.delivered()
                world.network.isOnline = false
                let late = try await first.from("items").insert(NewItem(title: "late"))
                let bad = try await first.from("items").insert(NewItem(title: ""))
                await first.close()

                world.network.isOnline = true
                let second = try await world.client(folder: folder)
                let rows = try await second.receipt(mutationID: good.mutationIDs[0]).delivered()
                #expect(try rows.decode(as: Item.self).map(\.title) == ["kept"])
                let delivered = try await second.receipt(mutationID: late.mutationIDs[0]).delivered()
                #expect(try delivered.decode(as: Item.self).map(\.title) == ["late"])
                do {
                    try await second.receipt(mutationID: bad.mutationIDs[0]).delivered()
                    Issue.record("the rejected insert was delivered")
                } catch let error as SyncError {
                    #expect(error.code == .rejected)
                    #expect(error.server?.code == "23514")
                }
                do {
                    try await second.receipt(mutationID: "nothing").delivered()
                    Issue.record("an unknown id has an outcome")
                } catch let error as SyncError {
                    #expect(error.code == .unknownMutation)
                }
            }
        }
    }
}
