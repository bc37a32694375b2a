import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

@Suite struct RowStateTests {
    private let key = "0190aaaa-0000-7000-8000-000000000001"

    /// Waits for the first snapshot that meets a condition.
    private func snapshot(
        of client: KizunaSyncClient, when isMet: (QuerySnapshot<[Item]>) -> Bool
    ) async throws -> QuerySnapshot<[Item]>? {
        for try await snapshot in client.from("items").selectAsSequence(as: [Item].self) where isMet(snapshot) {
            return snapshot
        }
        return nil
    }

    @Test func eachRowIsConfirmedPendingOrRejected() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            try world.server.insert(#"{"id":"\#(key)","title":"served","done":false}"#, into: "items")
            let client = try await world.client()
            let confirmed = try await snapshot(of: client) { $0.refresh == .idle }
            #expect(confirmed?.rowStates.map(\.state) == [.confirmed])
            #expect(confirmed?.rowStates.map(\.id) == [key])

            world.network.isOnline = false
            let receipt = try await client.from("items").insert(NewItem(title: "mine"))
            let pending = try await snapshot(of: client) { $0.hasPendingMutations }
            #expect(pending?.rowStates.map(\.state) == [.confirmed, .pending])
            #expect(pending?.rowStates.map(\.id) == [key] + receipt.rowIDs)

            world.network.isOnline = true
            try await client.sync()
            let bad = try await client.from("items").update(["title": ""]).eq("id", value: key).execute()
            await #expect(throws: SyncError.self) { try await bad.delivered() }
            let rejected = try await snapshot(of: client) { $0.refresh == .idle }
            #expect(rejected?.rowStates.map(\.state) == [.rejected(mutationID: bad.mutationIDs[0]), .confirmed])
            #expect(rejected?.result?.map(\.title) == ["served", "mine"])
            try await client.discard(bad.mutationIDs[0])
            let clean = try await snapshot(of: client) { $0.refresh == .idle }
            #expect(clean?.rowStates.map(\.state) == [.confirmed, .confirmed])
        }
    }

    @Test func aQueuedRowThatDoesNotDecodeIsLeftOutOfBothLists() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            world.network.isOnline = false
            let client = try await world.client()
            try await client.from("items").insert(["title": "no done column"])
            try await client.from("items").insert(NewItem(title: "whole"))
            let snapshot = try await snapshot(of: client) { $0.hasPendingMutations && $0.result?.isEmpty == false }
            #expect(snapshot?.result?.map(\.title) == ["whole"])
            #expect(snapshot?.rowStates.count == 1)
        }
    }
}
