import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

/// One process sends at a time.
@Suite struct DrainerTests {
    @Test func oneSendsWhatBothWrite() throws {
        try ProcessWorld.run { world in
            let (app, other) = try await world.pair()
            world.world.server.latency = .seconds(1)
            try await app.insert("one")
            try await other.insert("two")
            await world.advance(1_500)
            #expect(other.writeCount == 0, "the other's turn is waited for")
            #expect(app.writeCount == 2)
            await world.advance(2_000)
            #expect(world.world.titles == ["one", "two"])
            #expect(try await app.client.outboxDepth() == 0)
            #expect(try await other.client.outboxDepth() == 0)
        }
    }

    @Test func theOtherTakesItsTurnWhenTheQueueWasEmpty() throws {
        try ProcessWorld.run { world in
            let (app, other) = try await world.pair()
            try await app.insert("one")
            await world.advance(200)
            try await other.insert("two")
            await world.advance(200)
            #expect(app.writeCount == 1)
            #expect(other.writeCount == 1)
            #expect(world.world.titles == ["one", "two"])
        }
    }

    /// A turn is kept as long as requests are out, however long they take.
    @Test func aSlowRequestDoesNotLoseTheTurn() throws {
        try ProcessWorld.run { world in
            let (app, other) = try await world.pair()
            world.world.server.latency = .seconds(25)
            try await app.insert("one")
            try await other.insert("two")
            await world.advance(60_000)
            #expect(other.writeCount == 0)
            #expect(world.world.server.mutations.count == 2)
        }
    }

    @Test func aStoppedProcessLosesItsTurnByTime() throws {
        try ProcessWorld.run { world in
            let (app, other) = try await world.pair()
            world.world.server.latency = .seconds(2)
            try await app.insert("one")
            await world.advance(100)
            app.process.stop()
            try await other.insert("two")
            await world.advance(9_000)
            #expect(other.writeCount == 0)
            await world.advance(4_000)
            // Its own write, and the stopped one's again, whose answer nobody has heard.
            #expect(other.writeCount == 2)
            #expect(world.world.titles == ["one", "two"])
            await world.advance(5_000)
            #expect(try await other.client.outboxDepth() == 0)
            app.process.resume()
            await world.advance(5_000)
            #expect(app.writeCount == 1)
            #expect(try await app.client.outboxDepth() == 0)
            #expect(try await WriteWorld.first(app.client.rejectedMutations)?.isEmpty == true)
        }
    }

    @Test func aKilledProcessLosesItsTurnAtOnce() throws {
        try ProcessWorld.run { world in
            let (app, other) = try await world.pair()
            world.world.server.latency = .seconds(2)
            try await app.insert("one")
            await world.advance(100)
            app.process.kill()
            await world.advance(5)
            #expect(other.sentAt == [101], "a millisecond for the signal")
            await world.advance(10_000)
            #expect(world.world.titles == ["one"])
            #expect(try await other.client.outboxDepth() == 0)
            #expect(try await WriteWorld.first(other.client.rejectedMutations)?.isEmpty == true)
        }
    }

    /// An insert without a key cannot be told from a second one: the other does not send it again.
    @Test func whatMayHaveBeenSentByAKilledOneIsNotSentBlindly() throws {
        try ProcessWorld.run { world in
            let (app, other) = try await world.pair { $0.tables = [KizunaTable("items", generatesKeys: false)] }
            world.world.server.latency = .seconds(2)
            try await app.client.from("items").insert(["title": "one"])
            await world.advance(100)
            app.process.kill()
            await world.advance(5_000)
            #expect(other.writeCount == 0)
            let rejected = try await WriteWorld.first(other.client.rejectedMutations)
            #expect(rejected?.map(\.failure.code) == [ServerFailure.outcomeUnknownCode])
        }
    }

    /// While one sends it, the other does not take it for lost.
    @Test func whatTheOtherIsSendingIsNotGivenUp() throws {
        try ProcessWorld.run { world in
            let (app, other) = try await world.pair { $0.tables = [KizunaTable("items", generatesKeys: false)] }
            world.world.server.latency = .seconds(2)
            try await app.client.from("items").insert(["id": "00000000-0000-4000-8000-000000000001", "title": "keyed"])
            try await app.client.from("notes").insert(["text": "one"])
            await world.advance(20)
            try await other.client.enableNetwork()
            await world.advance(10_000)
            #expect(try await WriteWorld.first(other.client.rejectedMutations)?.isEmpty == true)
            #expect(other.writeCount == 0)
            #expect(world.world.server.rows(of: "notes").count == 1)
        }
    }

    @Test func aProcessThatMayNotSendLeavesItToTheOther() throws {
        try ProcessWorld.run { world in
            let (app, other) = try await world.pair()
            try await app.client.disableNetwork()
            try await app.insert("one")
            await world.advance(100)
            #expect(other.writeCount == 1)
            #expect(world.world.titles == ["one"])
        }
    }

    @Test func aProcessThatCannotReachTheServerLosesItsTurn() throws {
        try ProcessWorld.run { world in
            let (app, other) = try await world.pair()
            app.network.isOnline = false
            try await app.insert("one")
            await world.advance(200)
            #expect(world.world.titles == ["one"])
            #expect(other.writeCount == 1)
        }
    }

    @Test func syncInOneWaitsForTheOther() throws {
        try ProcessWorld.run { world in
            let (app, other) = try await world.pair()
            world.world.server.latency = .seconds(1)
            try await app.insert("one")
            await world.advance(10)
            let sync = world.simulation.start { try await other.client.sync() }
            try await sync.value
            #expect(world.world.titles == ["one"])
            #expect(world.simulation.elapsed < .seconds(2))
            #expect(other.writeCount == 0)
        }
    }
}
