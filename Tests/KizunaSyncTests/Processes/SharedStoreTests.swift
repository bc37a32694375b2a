import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

/// What one process sees of what another did, in virtual time. A signal takes a millisecond.
@Suite struct SharedStoreTests {
    @Test func aWriteOfOneShowsInTheOthersLiveRead() throws {
        try ProcessWorld.run { world in
            let (app, other) = try await world.pair()
            let watch = Watch(other.items(), in: world.simulation)
            await world.advance(200)
            #expect(watch.titles == [])
            try await app.client.disableNetwork()
            try await other.client.disableNetwork()
            try await app.insert("from the app")
            await world.advance(2)
            #expect(watch.titles == ["from the app"])
            #expect(watch.emissions.last?.hasPendingMutations == true)
        }
    }

    /// No reader sees the row go and come back when the other delivers it.
    @Test func aDeliveryOfOneDoesNotFlickerInTheOther() throws {
        try ProcessWorld.run { world in
            let (app, other) = try await world.pair()
            let watch = Watch(other.items(), in: world.simulation)
            await world.advance(200)
            try await other.client.disableNetwork()
            try await app.insert("a")
            await world.advance(500)
            #expect(app.writeCount == 1)
            let shown = watch.emissions.map { ($0.result ?? []).map(\.title) }
            #expect(shown.drop { $0.isEmpty }.allSatisfy { $0 == ["a"] }, "\(shown)")
            #expect(watch.emissions.last?.hasPendingMutations == false)
        }
    }

    @Test func anAnswerOneFetchedShowsInTheOtherWithoutARequest() throws {
        try ProcessWorld.run { world in
            let (app, other) = try await world.pair()
            try world.world.server.insert(
                #"{"id":"00000000-0000-4000-8000-000000000001","title":"old","done":false}"#, into: "items")
            let watch = Watch(other.items(), in: world.simulation)
            await world.advance(200)
            let requests = other.network.sent.count
            try world.world.server.insert(
                #"{"id":"00000000-0000-4000-8000-000000000002","title":"new","done":false}"#, into: "items")
            _ = try await app.client.from("items").select(as: [Item].self, readStrategy: .networkOnly).execute()
            await world.advance(2)
            #expect(watch.titles == ["old", "new"])
            #expect(watch.emissions.last?.isFromCache == false, "that the server confirmed it is not forgotten")
            #expect(other.network.sent.count == requests)
        }
    }

    @Test func feedsDepthsAndEventsFollowTheOther() throws {
        try ProcessWorld.run { world in
            let (app, other) = try await world.pair()
            let log = try await EventLog(other.client)
            let pending = StateWatch(other.client.pendingMutations(table: "items"), in: world.simulation)
            let rejected = StateWatch(other.client.rejectedMutations, in: world.simulation)
            await world.advance(10)
            try await other.client.disableNetwork()
            try await app.client.disableNetwork()
            try await app.insert("")
            await world.advance(2)
            #expect(pending.last?.count == 1)
            #expect(try await other.client.outboxDepth() == 1)
            try await app.client.enableNetwork()
            await world.advance(500)
            #expect(pending.last?.isEmpty == true)
            #expect(rejected.last?.map(\.failure.code) == ["23514"])
            #expect(try await other.client.outboxDepth() == 0)
            #expect(log.depths == [1, 0])
            #expect(log.events.contains { if case .mutationRejected = $0 { true } else { false } })
            let id = try #require(rejected.last?.first?.mutation.id)
            try await app.client.discard(id)
            await world.advance(2)
            #expect(rejected.last?.isEmpty == true)
            log.subscription.cancel()
        }
    }

    @Test func aReceiptIsToldTheOutcomeTheOtherGot() throws {
        try ProcessWorld.run { world in
            let (app, other) = try await world.pair()
            try await other.client.disableNetwork()
            let good = try await other.insert("good")
            let bad = try await other.insert("")
            let delivered = world.simulation.start { try await good.delivered().rows.count }
            let rejected = world.simulation.start { try await bad.delivered() }
            await world.advance(2_000)
            #expect(other.writeCount == 0)
            #expect(app.writeCount > 0)
            #expect(try await delivered.value == 1)
            let outcome = await rejected.result
            #expect(throws: SyncError.self) { try outcome.get() }
            // Looked up by another process, and long after.
            let again = try app.client.receipt(mutationID: good.mutationIDs[0])
            let rows = try await again.delivered().rows.count
            #expect(rows == 1)
        }
    }

    @Test func aClearOfOneDropsTheOthersRows() throws {
        try ProcessWorld.run { world in
            let (app, other) = try await world.pair()
            try world.world.server.insert(
                #"{"id":"00000000-0000-4000-8000-000000000001","title":"old","done":false}"#, into: "items")
            let watch = Watch(other.items(), in: world.simulation)
            await world.advance(200)
            #expect(watch.titles == ["old"])
            try await other.client.disableNetwork()
            try await app.client.clearLocalData()
            await world.advance(2)
            #expect(watch.titles == nil)
            try await other.client.enableNetwork()
            await world.advance(200)
            #expect(watch.titles == ["old"])
        }
    }

    @Test func aSignOutOfOneLeavesTheOtherItsQueue() throws {
        try ProcessWorld.run { world in
            let (app, other) = try await world.pair()
            let token = TestToken.make(userID: "alice")
            try await app.client.setAccessToken(token)
            try await other.client.setAccessToken(token)
            await world.advance(10)
            try await app.client.disableNetwork()
            try await other.client.disableNetwork()
            try await app.insert("unsent")
            try await app.client.signOut()
            await world.advance(10)
            #expect(try await other.client.outboxDepth() == 1)
            try await other.client.enableNetwork()
            await world.advance(500)
            #expect(world.world.titles == ["unsent"])
        }
    }

    @Test func aStoreThatOneRemovesIsBegunAnewByTheOther() throws {
        try ProcessWorld.run { world in
            let (app, other) = try await world.pair()
            try await other.client.setAccessToken(TestToken.make(userID: "alice"))
            await world.advance(10)
            try await other.client.disableNetwork()
            try await other.insert("before")
            try await app.client.removeOwner("alice")
            #expect(try await app.client.knownOwners() == [])
            try await other.insert("after")
            #expect(try await other.client.outboxDepth() == 1)
            #expect(try await app.client.pendingMutationCount(owner: "alice") == 1)
            try await other.client.enableNetwork()
            await world.advance(500)
            #expect(world.world.titles == ["after"])
        }
    }

    /// A process that hears nothing still sees what the other did before it builds on it.
    @Test func withoutASignalTheNextTransactionSeesIt() throws {
        try ProcessWorld.run { world in
            let (app, other) = try await world.pair()
            world.machine.isSilent = true
            try await app.client.disableNetwork()
            try await app.insert("first")
            #expect(try await other.client.outboxDepth() == 0)
            try await other.insert("second")
            #expect(try await other.client.outboxDepth() == 2)
            await world.advance(500)
            #expect(world.world.titles.sorted() == ["first", "second"])
            #expect(app.writeCount == 0)
        }
    }
}
