import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

/// The matrix's row "Session restoring". Rows belong to users: alice has two tasks, bob one, nobody sees none.
@Suite struct SessionMatrixTests {
    private static let rows = """
        [{"id":"a","title":"one","done":false,"user_id":"alice"},{"id":"b","title":"two","done":false,"user_id":"alice"},
        {"id":"c","title":"bobs","done":false,"user_id":"bob"}]
        """

    /// A client of a later start: alice's rows are stored, her session is being restored.
    private func inNextStart(
        trust: ResponseTrust = .anySession, _ body: @escaping @Sendable (ReadScene) async throws -> Void
    ) throws {
        try withTemporaryFolder { folder in
            var options = ReadScene.Options()
            options.ownerColumn = "user_id"
            options.rows = Self.rows
            options.folder = folder
            options.configure = { $0.responseTrust = trust }
            options.initialSession = .signedIn(userID: "alice", accessToken: TestToken.make(userID: "alice"))
            try Simulation.run { [options] simulation in
                let previous = try await ReadScene(simulation, options)
                try await previous.warmUp()
                await previous.client.close()
                await simulation.advance(by: .milliseconds(950))
                var options = options
                options.initialSession = .restoring
                try await body(ReadScene(simulation, options, server: previous.server))
            }
        }
    }

    @Test func restoringCacheFirstShowsTheStoredUsersRowsAndSettlesOnThatUsersAnswer() throws {
        try inNextStart { scene in
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(60))
            #expect(watch.lines == ["[one, two] cache @0.05 refreshing"])
            #expect(scene.readTimes == [])
            scene.session.signIn("alice")
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.lines == ["[one, two] cache @0.05 refreshing", "[one, two] server @61.05 idle"])
            #expect(scene.readTimes == [61])
        }
    }

    @Test func restoringCacheFirstDropsTheStoredUsersRowsWhenItSettlesSignedOut() throws {
        try inNextStart { scene in
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(4))
            scene.session.signOut()
            await scene.simulation.advance(by: .seconds(1))
            #expect(
                watch.lines == [
                    "[one, two] cache @0.05 refreshing", "nil cache @never refreshing",
                    "[] server @5.05 idle complete",
                ])
        }
    }

    @Test func restoringCacheFirstEndsOnTheRowsOfWhoeverSignsInAlone() throws {
        try inNextStart { scene in
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(4))
            scene.session.signIn("bob")
            await scene.simulation.advance(by: .seconds(1))
            #expect(
                watch.lines == [
                    "[one, two] cache @0.05 refreshing", "nil cache @never refreshing", "[bobs] server @5.05 idle",
                ])
        }
    }

    @Test func restoringWithoutAStoredSessionNeverShowsAnotherUsersRows() throws {
        try withTemporaryFolder { folder in
            var options = ReadScene.Options()
            options.ownerColumn = "user_id"
            options.rows = Self.rows
            options.folder = folder
            options.initialSession = .signedIn(userID: "alice", accessToken: TestToken.make(userID: "alice"))
            try Simulation.run { [options] simulation in
                let previous = try await ReadScene(simulation, options)
                try await previous.warmUp()
                previous.session.signOut()
                await simulation.advance(by: .seconds(1))
                await previous.client.close()
                var options = options
                options.initialSession = .restoring
                let scene = try await ReadScene(simulation, options, server: previous.server)
                let watch = scene.watch(scene.tasks())
                let cached = scene.watch(scene.tasks(.cacheOnly))
                await simulation.advance(by: .seconds(4))
                #expect(watch.lines == ["nil cache @never refreshing"])
                #expect(cached.lines == ["nil cache @never idle"])
            }
        }
    }

    @Test func restoringNetworkFirstIsSilentUntilItSettlesThenShowsTheUsersRows() throws {
        try inNextStart { scene in
            let watch = scene.watch(scene.tasks(.networkFirstThenCache))
            await scene.simulation.advance(by: .seconds(9))
            #expect(watch.lines == [])
            scene.session.signIn("alice")
            await scene.simulation.advance(by: .seconds(60))
            #expect(watch.lines == ["[one, two] server @10.05 idle"])
        }
    }

    @Test func aSessionThatNeverSettlesHasNetworkFirstShowTheCacheStillRefreshing() throws {
        try inNextStart { scene in
            let watch = scene.watch(scene.tasks(.networkFirstThenCache))
            await scene.simulation.advance(by: .milliseconds(9_990))
            #expect(watch.lines == [])
            await scene.simulation.advance(by: .milliseconds(20))
            #expect(watch.lines == ["[one, two] cache @0.05 refreshing"])
            await scene.simulation.advance(by: .seconds(3600))
            #expect(watch.lines == ["[one, two] cache @0.05 refreshing"])
            scene.session.signIn("alice")
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.lines.last?.hasPrefix("[one, two] server") == true)
        }
    }

    @Test func aSlowServerIsNotTakenForASessionThatDoesNotSettle() throws {
        try inNextStart { scene in
            scene.session.signIn("alice")
            scene.server.latency = .seconds(20)
            let watch = scene.watch(scene.tasks(.networkFirstThenCache))
            await scene.simulation.advance(by: .seconds(60))
            #expect(watch.lines == ["[one, two] server @21.0 idle"])
        }
    }

    @Test func restoringCacheOnlyShowsTheStoredRowsAndSendsNothing() throws {
        try inNextStart { scene in
            let watch = scene.watch(scene.tasks(.cacheOnly))
            await scene.simulation.advance(by: .seconds(1))
            scene.session.signIn("bob")
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.lines == ["[one, two] cache @0.05 idle", "nil cache @never idle"])
            #expect(scene.readTimes == [])
        }
    }

    @Test func anAnswerOnItsWayWhenTheSessionIsLostIsNotWritten() throws {
        try inNextStart { scene in
            scene.session.signIn("alice")
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .milliseconds(20))
            try scene.server.insert(#"{"id":"d","title":"new","done":false,"user_id":"alice"}"#, into: "tasks")
            scene.session.current = .restoring
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.lines == ["[one, two] cache @0.05 refreshing"])
            scene.session.signIn("alice")
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.lines.last == "[one, two, new] server @2.07 idle")
        }
    }

    @Test func anExpiredTokenIsReplacedOnceAndNeverReadsAsAFailure() throws {
        try inNextStart { scene in
            let expired = TestToken.make(userID: "alice", expiresAt: Simulation.startDate)
            scene.session.enqueueFreshTokens(TestToken.make(userID: "alice", serial: 1))
            scene.session.current = .signedIn(userID: "alice", accessToken: expired)
            for strategy in SequenceReadStrategy.allCases where strategy != .cacheOnly {
                let watch = scene.watch(scene.tasks(strategy))
                await scene.simulation.advance(by: .seconds(1))
                #expect(watch.lines.last?.contains("server") == true)
                #expect(watch.lines.allSatisfy { !$0.contains("stalled") })
            }
            #expect(scene.session.freshTokenCount == 1)
        }
    }

    @Test func aServerThatAcceptsNoTokenStallsTheReadAndIsNotHammered() throws {
        try inNextStart { scene in
            let expired = Simulation.startDate
            scene.session.enqueueFreshTokens(
                TestToken.make(userID: "alice", expiresAt: expired, serial: 1),
                TestToken.make(userID: "alice", expiresAt: expired, serial: 2),
                TestToken.make(userID: "alice", expiresAt: expired, serial: 3),
                TestToken.make(userID: "alice", expiresAt: expired, serial: 4),
                TestToken.make(userID: "alice", expiresAt: expired, serial: 5),
                TestToken.make(userID: "alice", expiresAt: expired, serial: 6))
            scene.session.current = .signedIn(
                userID: "alice", accessToken: TestToken.make(userID: "alice", expiresAt: expired))
            let watch = scene.watch(scene.tasks())
            let first = scene.watch(scene.tasks(.networkFirstThenCache))
            await scene.simulation.advance(by: .seconds(30))
            #expect(watch.lines == ["[one, two] cache @0.05 refreshing", "[one, two] cache @0.05 stalled(server)"])
            #expect(first.end == "server")
            #expect(scene.readTimes.count < 12)
        }
    }
}
