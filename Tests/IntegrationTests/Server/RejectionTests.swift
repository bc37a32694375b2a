import KizunaCore
import KizunaLocal
import KizunaSync
import Testing

/// What the server refuses: kept with all it said, and in nobody's way.
@Suite struct RejectionTests {
    private struct Row: Encodable, Sendable {
        var id: String
        var title: String?
        var kind: String?
        var parent: String?
        var owner: String?
    }

    @Test func eachRefusalKeepsItsReasonAndTheOthersAreDelivered() async throws {
        try await SharedCluster.withBackend(Schemas.ownNotes) { backend in
            let device = try await Device(backend, user: Users.ada)
            try await device.notes.insert(Row(id: noteKey(1), title: "there", kind: "taken")).delivered()
            try await device.client.disableNetwork()
            let bad = [
                ("23502", Row(id: noteKey(2))), ("23505", Row(id: noteKey(3), title: "x", kind: "taken")),
                ("23503", Row(id: noteKey(4), title: "x", parent: noteKey(99))),
                ("23514", Row(id: noteKey(5), title: "")),
                ("42501", Row(id: noteKey(6), title: "x", owner: Users.bob)),
            ]
            for (_, row) in bad { try await device.notes.insert(row) }
            let good = try await device.notes.insert(Row(id: noteKey(7), title: "good"))
            try await device.client.enableNetwork()
            try await good.delivered()
            try await device.untilDelivered()
            let rejected = try await device.rejected()
            let codes = Dictionary(
                rejected.map { ($0.mutation.rowIDs.joined(), $0.failure.code) }, uniquingKeysWith: { $1 })
            #expect(codes == Dictionary(uniqueKeysWithValues: bad.map { ($0.1.id, $0.0) }))
            let constraints = rejected.compactMap(\.failure.constraint).sorted()
            #expect(constraints == ["notes_kind_key", "notes_parent_fkey", "title_not_empty"])
            #expect(rejected.allSatisfy { $0.failure.message?.isEmpty == false })
            let ids = try await backend.query("SELECT id FROM notes ORDER BY id").compactMap { $0["id"] }
            #expect(ids == [noteKey(1), noteKey(7)])
            await device.client.close()
        }
    }

    @Test func anotherUsersRowsAreNeitherShownNorChanged() async throws {
        try await SharedCluster.withBackend(Schemas.ownNotes) { backend in
            let ada = try await Device(backend, user: Users.ada)
            let bob = try await Device(backend, user: Users.bob)
            try await ada.notes.insert(Note(id: noteKey(1), title: "hers")).delivered()
            #expect(try await bob.pull().isEmpty)
            let update = try await bob.notes.update(["title": "his"]).eq("id", value: noteKey(1)).execute()
            _ = try? await update.delivered()
            let take = try await bob.notes.insert(Note(id: noteKey(1), title: "his"))
            let error = await #expect(throws: SyncError.self) { try await take.delivered() }
            #expect(error?.server?.code == "23505")
            #expect(try await ada.pull() == [Note(id: noteKey(1), title: "hers")])
            await ada.client.close()
            await bob.client.close()
        }
    }

    @Test func anotherUserSignsInOnTheSameDevice() async throws {
        try await SharedCluster.withBackend(Schemas.ownNotes) { backend in
            let device = try await Device(backend, user: Users.ada)
            try await device.notes.insert(Note(id: noteKey(1), title: "hers")).delivered()
            let fault = backend.control.add(FaultRule(.holdAnswer, method: "GET", path: "/rest/v1/notes"))
            let client = device.client
            let late = SyncEnvironment.live().spawn {
                _ = try? await client.from("notes").select(as: [Note].self, readStrategy: .networkOnly).execute()
            }
            await backend.control.requests { $0.contains { $0.outcome == .held } }
            try await device.client.setAccessToken(backend.token(subject: Users.bob))
            backend.control.removeFault(fault)
            #expect(try await device.pull().isEmpty)
            #expect(try await device.shown().isEmpty)
            try await device.notes.insert(Note(id: noteKey(2), title: "his")).delivered()
            #expect(try await device.pull() == [Note(id: noteKey(2), title: "his")])
            try await device.client.setAccessToken(backend.token(subject: Users.ada))
            #expect(try await device.pull() == [Note(id: noteKey(1), title: "hers")])
            late.cancel()
            await device.client.close()
        }
    }

    @Test func unsentWritesStayWithTheUserWhoMadeThem() async throws {
        try await SharedCluster.withBackend(Schemas.ownNotes) { backend in
            let device = try await Device(backend, user: Users.ada)
            try await device.client.disableNetwork()
            try await device.notes.insert(Note(id: noteKey(1), title: "hers"))
            try await device.client.setAccessToken(backend.token(subject: Users.bob))
            try await device.client.enableNetwork()
            try await device.notes.insert(Note(id: noteKey(2), title: "his")).delivered()
            let owners = try await backend.query("SELECT id, owner FROM notes")
            #expect(owners == [["id": noteKey(2), "owner": Users.bob]])
            try await device.client.setAccessToken(backend.token(subject: Users.ada))
            try await device.untilDelivered()
            let owner = try await backend.query("SELECT owner FROM notes WHERE id = $1", [noteKey(1)])
            #expect(owner == [["owner": Users.ada]])
            await device.client.close()
        }
    }

    @Test func anExpiredTokenWaitsForTheNextAndIsNeverUsedAgain() async throws {
        try await SharedCluster.withBackend(Schemas.ownNotes) { backend in
            let device = try await Device(backend)
            try await device.client.setAccessToken(backend.token(subject: Users.ada, expiresIn: .seconds(-60)))
            let receipt = try await device.notes.insert(Note(id: noteKey(1), title: "hers"))
            await backend.control.requests { $0.contains { $0.status == 401 } }
            try await device.notes.insert(Note(id: noteKey(2), title: "too"))
            try await device.client.setAccessToken(backend.token(subject: Users.ada))
            try await receipt.delivered()
            try await device.untilDelivered()
            let statuses = backend.control.requests.filter { $0.method == "POST" }.compactMap(\.status)
            #expect(statuses.filter { $0 == 401 }.count == 1)
            #expect(try await device.rejected().isEmpty)
            #expect(try await backend.query("SELECT id FROM notes").count == 2)
            await device.client.close()
        }
    }
}
