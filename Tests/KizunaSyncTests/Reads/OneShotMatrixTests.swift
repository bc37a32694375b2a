import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

/// What the matrix of one-shot reads does not say of itself; its cells are in `OneShotCellTests`.
@Suite struct OneShotMatrixTests {
    private static let warm = "[one, two] cache @0.05 idle"

    @Test func onlineEachStrategyResponsesAndTheResponseIsCached() throws {
        try ReadScene.run { scene in
            #expect(await scene.outcome(.networkOnly) == "[one, two] server @0.05 idle")
            #expect(await scene.outcome(.networkFirst) == "[one, two] server @0.1 idle")
            #expect(await scene.outcome(.cacheFirst) == "[one, two] cache @0.1 idle")
            #expect(await scene.outcome(.cacheOnly) == "[one, two] cache @0.1 idle")
            await scene.simulation.advance(by: .seconds(60))
            #expect(scene.readTimes == [0, 0.05])
        }
    }

    @Test func onlineColdCacheFirstAsksTheServerEvenWhereWritesWait() throws {
        try ReadScene.run { scene in
            scene.transport.isOnline = false
            try await scene.client.from("tasks").insert(NewTask(title: "three", done: false))
            await scene.simulation.settle()
            scene.transport.isOnline = true
            let outcome = await scene.outcome(.cacheFirst)
            #expect(outcome == "[one, two, three] server @0.05 pending idle")
        }
    }

    @Test func offlineColdTheQueuedRowsAloneResponseCacheOnly() throws {
        try ReadScene.run { scene in
            scene.transport.isOnline = false
            try await scene.client.from("tasks").insert(NewTask(title: "three", done: false))
            #expect(await scene.outcome(.networkFirst) == "connectivity")
            #expect(await scene.outcome(.cacheOnly) == "[three] cache @never pending idle")
        }
    }

    @Test func disabledSendsNothingAndResponsesAtOnce() throws {
        try ReadScene.run { scene in
            try await scene.client.disableNetwork()
            #expect(await scene.outcome(.networkFirst) == "network_disabled")
            try await scene.client.enableNetwork()
            try await scene.warmUp()
            try await scene.client.disableNetwork()
            #expect(await scene.outcome(.networkOnly) == "network_disabled")
            #expect(await scene.outcome(.networkFirst) == Self.warm)
            #expect(await scene.outcome(.cacheFirst) == Self.warm)
            #expect(await scene.outcome(.cacheOnly) == Self.warm)
            #expect(scene.readTimes == [0])
            #expect(scene.simulation.elapsed == .milliseconds(50))
        }
    }

    @Test func knownDownByTheMonitorAnswersFromTheCacheAtOnce() throws {
        try ReadScene.run { scene in
            try await scene.warmUp()
            scene.path.isSatisfied = false
            scene.server.latency = .seconds(20)
            #expect(await scene.outcome(.networkFirst) == Self.warm)
            #expect(scene.simulation.elapsed == .milliseconds(50))
            scene.transport.isOnline = false
            #expect(await scene.outcome(.networkOnly) == "connectivity")
        }
    }

    @Test func serverErrorsAreThrownWhereTheServerHadToBeAsked() throws {
        try ReadScene.run { scene in
            try await scene.warmUp()
            for status in [400, 403, 500] {
                scene.server.outage = SimulatedRejection(status, code: "XX000", message: "broken")
                #expect(await scene.outcome(.networkOnly) == "server")
                #expect(await scene.outcome(.networkFirst) == "server")
                #expect(await scene.outcome(.cacheFirst) == Self.warm)
                #expect(await scene.outcome(.cacheOnly) == Self.warm)
            }
            try await scene.client.clearLocalData()
            #expect(await scene.outcome(.cacheFirst) == "server")
        }
    }
}

/// The row "Session restoring" of the one-shot matrix.
@Suite struct OneShotSessionTests {
    private static func restoring(
        isWarm: Bool, _ body: @escaping @Sendable (ReadScene) async throws -> Void
    ) throws {
        var options = ReadScene.Options()
        options.initialSession = .signedIn(userID: "alice", accessToken: TestToken.make(userID: "alice"))
        try ReadScene.run(options) { scene in
            if isWarm { try await scene.warmUp() }
            scene.session.current = .restoring
            await scene.simulation.settle()
            try await body(scene)
        }
    }

    @Test(arguments: [ReadStrategy.networkOnly, .networkFirst])
    func aNetworkReadWaitsForTheSession(strategy: ReadStrategy) throws {
        try Self.restoring(isWarm: true) { scene in
            let read = scene.simulation.start { await scene.outcome(strategy) }
            await scene.simulation.advance(by: .seconds(5))
            #expect(scene.readTimes == [0])
            scene.session.signIn("alice")
            let outcome = try await read.value
            #expect(outcome == "[one, two] server @5.1 idle")
        }
    }

    @Test func aSessionThatNeverSettlesGivesTheCacheAfterTenSecondsOrThrows() throws {
        try Self.restoring(isWarm: true) { scene in
            #expect(await scene.outcome(.networkFirst) == "[one, two] cache @0.05 idle")
            #expect(scene.simulation.elapsed == .milliseconds(10_050))
            #expect(await scene.outcome(.networkOnly) == "session_not_settled")
        }
        try Self.restoring(isWarm: false) { scene in
            #expect(await scene.outcome(.networkFirst) == "session_not_settled")
            #expect(await scene.outcome(.cacheFirst) == "session_not_settled")
        }
    }

    @Test(arguments: [ReadStrategy.cacheFirst, .cacheOnly])
    func aCacheReadResponsesAtOnce(strategy: ReadStrategy) throws {
        try Self.restoring(isWarm: true) { scene in
            #expect(await scene.outcome(strategy) == "[one, two] cache @0.05 idle")
            #expect(scene.simulation.elapsed == .milliseconds(50))
        }
    }

    @Test func aReadUnderWayWhenTheOwnerChangesIsAskedAgainAsTheNewOwner() throws {
        var options = ReadScene.Options()
        options.ownerColumn = "user_id"
        options.rows = """
            [{"id":"a","title":"hers","done":false,"user_id":"alice"},{"id":"b","title":"his","done":false,"user_id":"bob"}]
            """
        options.initialSession = .signedIn(userID: "alice", accessToken: TestToken.make(userID: "alice"))
        try ReadScene.run(options) { scene in
            let read = scene.simulation.start { await scene.outcome(.networkOnly) }
            await scene.simulation.advance(by: .milliseconds(20))
            scene.session.signIn("bob")
            let outcome = try await read.value
            #expect(outcome == "[his] server @0.1 idle")
            #expect(scene.readTimes == [0, 0.05])
        }
    }

    @Test func anExpiredTokenIsReplacedOnceAndThenThrown() throws {
        try Self.restoring(isWarm: true) { scene in
            let expired = TestToken.make(userID: "alice", expiresAt: Simulation.startDate)
            scene.session.enqueueFreshTokens(TestToken.make(userID: "alice", serial: 1))
            scene.session.current = .signedIn(userID: "alice", accessToken: expired)
            await scene.simulation.settle()
            #expect(await scene.outcome(.networkOnly).hasPrefix("[one, two] server"))
            scene.session.enqueueFreshTokens(
                TestToken.make(userID: "alice", expiresAt: Simulation.startDate, serial: 2))
            scene.session.current = .signedIn(
                userID: "alice",
                accessToken: TestToken.make(userID: "alice", expiresAt: Simulation.startDate, serial: 3))
            await scene.simulation.settle()
            #expect(await scene.outcome(.networkOnly) == "server")
        }
    }

    @Test func aReadThatWaitsWhenTheClientClosesThrowsClosed() throws {
        try Self.restoring(isWarm: false) { scene in
            let read = scene.simulation.start { await scene.outcome(.networkOnly) }
            await scene.simulation.advance(by: .seconds(1))
            await scene.client.close()
            let outcome = try await read.value
            #expect(outcome == "closed")
        }
    }
}
