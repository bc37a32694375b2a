import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

/// Rejected mutations with parked ones: which of them a retry or an edit queues again.
@Suite struct RepairOrderTests {
    private let key = "0190aaaa-0000-7000-8000-000000000001"
    private let other = "0190aaaa-0000-7000-8000-000000000002"

    @Test func aRetriedTransactionIsParkedTogetherAgain() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            let client = try await world.client()
            let receipt = try await world.rejectedTransaction(client)
            let ids = receipt.mutationIDs
            try await client.retry(ids[1])
            await simulation.advance(by: .seconds(5))
            #expect(world.titles == ["first"])
            let rejected = try await WriteWorld.first(client.rejectedMutations) ?? []
            #expect(rejected.map(\.id) == Array(ids[1...]))
            #expect(rejected.map(\.dependsOn) == [nil, ids[1]])
            try await client.edit(ids[1], ["title": "second"])
            try await client.sync()
            #expect(world.titles == ["first", "second", "third"])
        }
    }

    /// Returns an offline client with a pending insert whose key another device's row has.
    private func takenKey(_ simulation: Simulation) async throws -> (WriteWorld, KizunaSyncClient, WriteReceipt) {
        let world = WriteWorld(simulation)
        try world.server.insert(#"{"id":"\#(key)","title":"theirs","done":false}"#, into: "items")
        world.network.isOnline = false
        let client = try await world.client()
        return (world, client, try await client.from("items").insert(Item(id: key, title: "mine")))
    }

    /// Another device's row has the previous key, so no parked mutation may be sent with it.
    @Test func parkedMutationsFollowTheNewKeyOfTheirRow() throws {
        try Simulation.run { simulation in
            let (world, client, mine) = try await takenKey(simulation)
            try await client.from("items").update(["done": true]).eq("id", value: key).execute()
            let last = try await client.from("items").update(["title": "mine too"]).eq("id", value: key)
                .eq("done", value: true).execute()
            world.network.isOnline = true
            await #expect(throws: SyncError.self) { try await last.delivered() }
            #expect(try await WriteWorld.first(client.rejectedMutations)?.count == 3)
            try await client.edit(mine.mutationIDs[0], ["id": other])
            try await client.sync()
            #expect(try await WriteWorld.first(client.rejectedMutations)?.isEmpty == true)
            let rows = try world.server.rows(of: "items").map { try RawJSON(validating: Array($0.utf8)) }
            #expect(rows.map { $0.member("id")?.stringValue } == [key, other])
            #expect(rows.map { $0.member("title")?.stringValue } == ["theirs", "mine too"])
            #expect(rows.map { $0.member("done")?.text } == ["false", "true"])
        }
    }

    /// Declared references and whole rows that contain the key follow the first row of the transaction.
    @Test func aParkedTransactionFollowsTheNewKeyOfItsRow() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            try world.server.insert(#"{"id":"\#(key)","title":"theirs","done":false}"#, into: "items")
            let client = try await world.client {
                $0.tables[1] = KizunaTable(
                    "notes", columns: ["id": .uuid, "item_id": .uuid, "text": .text], references: ["item_id": "items"])
            }
            let (key, other) = (key, other)
            let receipt = try await client.write { tx in
                try tx.insert(Item(id: key, title: "mine"), into: "items")
                try tx.insert(["item_id": key, "text": "child"], into: "notes")
                try tx.update("items", Item(id: key, title: "whole", done: true)) { $0.eq("id", value: key) }
            }
            await #expect(throws: SyncError.self) { try await receipt.delivered() }
            try await client.edit(receipt.mutationIDs[0], ["id": other])
            try await client.sync()
            #expect(try await WriteWorld.first(client.rejectedMutations)?.isEmpty == true)
            #expect(world.titles == ["theirs", "whole"])
            #expect(world.server.rows(of: "notes").first?.contains(other) == true)
        }
    }

    /// The delete names the row by `in`, not by `eq`.
    @Test func aParkedMutationThatCannotFollowANewKeyStaysRejected() throws {
        try Simulation.run { simulation in
            let (world, client, mine) = try await takenKey(simulation)
            let last = try await client.from("items").delete().in("id", values: [key]).execute()
            world.network.isOnline = true
            await #expect(throws: SyncError.self) { try await last.delivered() }
            try await client.edit(mine.mutationIDs[0], ["id": other])
            try await client.sync()
            #expect(try await WriteWorld.first(client.rejectedMutations)?.map(\.id) == last.mutationIDs)
            #expect(world.titles == ["theirs", "mine"])
        }
    }

    @Test func anEditedRowLongerThanTheLimitIsNotQueued() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            let client = try await world.client { $0.limits.mutationBytes = 200 }
            let receipt = try await client.from("items").insert(NewItem(title: ""))
            await #expect(throws: SyncError.self) { try await receipt.delivered() }
            let error = await #expect(throws: SyncError.self) {
                try await client.edit(receipt.mutationIDs[0], ["title": String(repeating: "x", count: 250)])
            }
            #expect(error?.code == .notQueueable)
            #expect(error?.table == "items")
            #expect(try await WriteWorld.first(client.rejectedMutations)?.count == 1)
        }
    }

    /// A row is inserted, deleted and inserted again, as an undo does: later mutations depend on the second insert.
    @Test func mutationsOfARowInsertedAgainAreDelivered() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            world.network.isOnline = false
            let client = try await world.client()
            let bad = try await client.from("items").insert(Item(id: key, title: ""))
            let gone = try await client.from("items").delete().eq("id", value: key).execute()
            try await client.from("items").insert(Item(id: key, title: "again"))
            let change = try await client.from("items").update(["done": true]).eq("id", value: key).execute()
            world.network.isOnline = true
            try await change.delivered()
            let rejected = try await WriteWorld.first(client.rejectedMutations) ?? []
            #expect(rejected.map(\.id) == bad.mutationIDs + gone.mutationIDs)
            #expect(world.server.rows(of: "items").first?.contains(#""done":true"#) == true)
        }
    }

    /// Rejections are ordered by their commits, not by the device's clock.
    @Test func rejectionsKeepTheirOrderWhenTheClockIsSetBack() throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let world = WriteWorld(simulation)
                let client = try await world.client(folder: folder)
                var ids: [String] = []
                for hours in [0, -1, -2] {
                    simulation.setWallClockOffset(.seconds(hours * 3_600))
                    let receipt = try await client.from("items").insert(NewItem(title: ""))
                    await #expect(throws: SyncError.self) { try await receipt.delivered() }
                    ids += receipt.mutationIDs
                }
                #expect(try await WriteWorld.first(client.rejectedMutations)?.map(\.id) == ids)
                await client.close()
                let next = try await world.client(folder: folder)
                #expect(try await WriteWorld.first(next.rejectedMutations)?.map(\.id) == ids)
                await next.close()
            }
        }
    }
}
