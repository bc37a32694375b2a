import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

/// A lost session is not a sign-out: the rows stay, the queue stays, the status says what is missing.
@Suite struct LostSessionTests {
    /// Alice has been here before: her rows are stored, and a process left.
    private func afterAnEarlierRun(
        _ body: @escaping @Sendable (AuthScene) async throws -> Void
    ) throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let before = try AuthScene(simulation, folder: folder, kept: "alice")
                let client = try await before.client()
                let watch = OwnerWatch(client, in: simulation)
                await simulation.settle()
                #expect(watch.titles.last == .some(["server row of alice"]))
                await client.close()
                try await body(try AuthScene(simulation, folder: folder, kept: "alice"))
            }
        }
    }

    /// Alice is signed in, and her rows are on screen.
    private func whileAliceIsHere(
        _ body: @escaping @Sendable (OwnerScene, FakeSession, KizunaSyncClient, OwnerWatch) async throws -> Void
    ) throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let scene = try OwnerScene(simulation, folder: folder)
                scene.network.allowed = ["alice"]
                let session = FakeSession()
                let client = try await scene.client(session: session)
                session.signIn("alice")
                let watch = OwnerWatch(client, in: simulation)
                await simulation.settle()
                try await body(scene, session, client, watch)
                #expect(scene.network.faults == [])
            }
        }
    }

    private func expectWaiting(_ world: AuthScene, _ client: KizunaSyncClient, _ watch: OwnerWatch) async throws {
        #expect(watch.last?.result?.first?.title == "server row of alice")
        #expect(watch.last?.refresh == .refreshing)
        let isWaiting = try OwnerScene.status(of: client).needsSession
        #expect(isWaiting == true)
        #expect(try await client.knownOwners() == ["alice"])
        #expect(world.auth.userID == "alice")
    }

    @Test func anOfflineRefreshLeavesEverythingAndTheQueueIsSentWhenItSucceeds() throws {
        try afterAnEarlierRun { world in
            world.server.mode = .unreachable
            let client = try await world.client()
            let watch = OwnerWatch(client, in: world.scene.simulation)
            await world.scene.simulation.advance(by: .seconds(2))
            for count in 1...3 { _ = try await world.scene.insert("write \(count)", as: "alice", on: client) }
            await world.scene.simulation.settle()
            try await expectWaiting(world, client, watch)
            #expect(watch.last?.result?.count == 4)
            #expect(try await client.outboxDepth() == 3)
            #expect(world.server.refreshes.count >= 3)
            world.server.mode = .well
            await world.scene.simulation.advance(by: .seconds(65))
            #expect(
                world.scene.titles(of: "alice").sorted() == ["server row of alice", "write 1", "write 2", "write 3"])
            #expect(try await client.outboxDepth() == 0)
            let isWaiting = try OwnerScene.status(of: client).needsSession
            #expect(isWaiting == false)
            #expect(watch.last?.refresh == .idle)
        }
    }

    @Test func aRefusedRefreshTokenKeepsTheQueueUntilTheUserSignsInAgain() throws {
        try afterAnEarlierRun { world in
            world.server.mode = .rejecting(status: 400, code: "refresh_token_not_found")
            let client = try await world.client()
            let watch = OwnerWatch(client, in: world.scene.simulation)
            for count in 1...3 { _ = try await world.scene.insert("write \(count)", as: "alice", on: client) }
            await world.scene.simulation.advance(by: .seconds(600))
            try await expectWaiting(world, client, watch)
            #expect(world.server.refreshes.count == 1, "a refused token is not sent again and again")
            world.server.mode = .well
            try await world.auth.signIn(email: "alice@example.org", password: "x")
            await world.scene.simulation.advance(by: .seconds(5))
            #expect(
                world.scene.titles(of: "alice").sorted() == ["server row of alice", "write 1", "write 2", "write 3"])
            #expect(world.scene.server.mutations.filter { $0.userID == "alice" }.count == 3)
        }
    }

    @Test func aLockedKeychainIsAWaitAndNoSignOut() throws {
        try afterAnEarlierRun { world in
            world.store.isLocked = true
            let client = try await world.client()
            let watch = OwnerWatch(client, in: world.scene.simulation)
            await world.scene.simulation.advance(by: .seconds(30))
            #expect(watch.lastTitles == ["server row of alice"])
            let isWaiting = try OwnerScene.status(of: client).needsSession
            #expect(isWaiting == true)
            world.store.isLocked = false
            await world.scene.simulation.advance(by: .seconds(61))
            #expect(watch.last?.refresh == .idle)
            #expect(watch.titles.count == 1, "the rows never left the screen: \(watch.titles)")
        }
    }

    @Test func aProviderThatSaysNothingForAMomentTakesNothingAway() throws {
        try whileAliceIsHere { scene, session, client, watch in
            session.current = .restoring
            await scene.simulation.settle()
            _ = try await scene.insert("while it was gone", as: "alice", on: client)
            await scene.simulation.advance(by: .seconds(600))
            #expect(watch.last?.result?.count == 2)
            #expect(scene.titles(of: "alice") == ["server row of alice"])
            session.signIn("alice")
            await scene.simulation.advance(by: .seconds(1))
            #expect(scene.titles(of: "alice") == ["server row of alice", "while it was gone"])
        }
    }

    @Test func aSessionThatASourceCallsLostKeepsRowsAndQueueOverARestart() throws {
        try whileAliceIsHere { scene, session, client, watch in
            session.lose()
            await scene.simulation.settle()
            _ = try await scene.insert("while it was lost", as: "alice", on: client)
            await scene.simulation.advance(by: .seconds(600))
            #expect(watch.last?.result?.count == 2)
            await client.close()
            let next = try await scene.client(session: session)
            let again = OwnerWatch(next, in: scene.simulation)
            await scene.simulation.advance(by: .seconds(600))
            #expect(again.last?.result?.count == 2)
            let isWaiting = try OwnerScene.status(of: next).needsSession
            #expect(isWaiting == true)
            #expect(scene.titles(of: "alice") == ["server row of alice"])
            session.signIn("alice")
            await scene.simulation.advance(by: .seconds(1))
            #expect(scene.titles(of: "alice") == ["server row of alice", "while it was lost"])
        }
    }

    @Test func aLostSessionWhereNobodyWasSignedInIsNobody() throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let scene = try OwnerScene(simulation, folder: folder)
                scene.network.allowed = [nil]
                let client = try await scene.client(session: FakeSession(.lost))
                let watch = OwnerWatch(client, in: simulation)
                await simulation.settle()
                #expect(watch.last?.refresh == .idle)
                let isWaiting = try OwnerScene.status(of: client).needsSession
                #expect(isWaiting == false)
            }
        }
    }

    @Test func aTokenTheServerRefusesIsReplacedOnceAndTheWriteGoesOut() throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let world = try AuthScene(simulation, folder: folder, kept: "alice")
                let client = try await world.client()
                await simulation.settle()
                world.scene.server.outage = SimulatedRejection(401, code: "PGRST301", message: "JWT expired")
                let receipt = try await world.scene.insert("x", as: "alice", on: client)
                await simulation.settle()
                world.scene.server.outage = nil
                try await receipt.delivered()
                #expect(world.server.refreshes.count == 3, "the restored session's, and one for each of two refusals")
                #expect(world.scene.titles(of: "alice").filter { $0 == "x" }.count == 1)
            }
        }
    }

    @Test func aServerThatAcceptsNoTokenIsNotHammered() throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let world = try AuthScene(simulation, folder: folder, kept: "alice")
                let client = try await world.client()
                await simulation.settle()
                world.scene.server.outage = SimulatedRejection(401, code: "PGRST301", message: "JWT not accepted")
                let receipt = try await world.scene.insert("x", as: "alice", on: client)
                await simulation.advance(by: .seconds(3600))
                #expect(world.server.refreshes.count < 70)
                world.scene.server.outage = nil
                try await receipt.delivered()
            }
        }
    }

    /// The page's wiring: before each run the app hands over the token it has, which stays the same for an hour.
    @Test func oneRefusalOfAGoodTokenDoesNotStopAnAppThatHandsItsTokenOver() throws {
        try OwnerScene.run(allowing: ["alice", nil]) { scene, client in
            try await scene.signIn("alice", on: client)
            scene.server.outage = SimulatedRejection(401, code: "PGRST303", message: "JWT issued at future")
            _ = try await scene.insert("x", as: "alice", on: client)
            await scene.simulation.settle()
            scene.server.outage = nil
            for _ in 0..<7 {
                await scene.simulation.advance(by: .seconds(15))
                try await scene.signIn("alice", on: client)
            }
            #expect(scene.titles(of: "alice") == ["server row of alice", "x"])
            let isWaiting = try OwnerScene.status(of: client).needsSession
            #expect(isWaiting == false)
        }
    }

    @Test func aTokenThatIsRefusedForGoodIsTriedOnceInMoreThanAMinute() throws {
        try OwnerScene.run(allowing: ["alice", nil]) { scene, client in
            try await scene.signIn("alice", on: client)
            scene.server.outage = SimulatedRejection(401, code: "PGRST301", message: "JWT expired")
            _ = try await scene.insert("x", as: "alice", on: client)
            await scene.simulation.settle()
            let sent = scene.network.count
            for _ in 0..<240 {
                await scene.simulation.advance(by: .seconds(15))
                try await scene.signIn("alice", on: client)
            }
            // In an hour: it is tried, and less than once a minute.
            #expect((1..<60).contains(scene.network.count - sent))
        }
    }

    @Test func aNetworkThatComesAndGoesDoesNotMultiplyTheAsking() throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let scene = try OwnerScene(simulation, folder: folder)
                let path = FakePath()
                let session = FailingSession()
                let client = try await scene.client {
                    $0.session = session
                    $0.networkAvailability = path
                }
                scene.network.allowed = ["alice"]
                session.signIn("alice")
                await simulation.settle()
                session.restore()
                for _ in 0..<50 {
                    path.isSatisfied = false
                    path.isSatisfied = true
                    await simulation.advance(by: .milliseconds(100))
                }
                let asked = session.asked
                await simulation.advance(by: .seconds(3600))
                #expect((50...130).contains(session.asked - asked))
                await client.close()
            }
        }
    }

    @Test func theReturnOfTheNetworkCutsTheWaitForATokenShort() throws {
        try afterAnEarlierRun { world in
            world.server.mode = .unreachable
            let path = FakePath(isSatisfied: false)
            let client = try await world.client { $0.networkAvailability = path }
            let watch = OwnerWatch(client, in: world.scene.simulation)
            await world.scene.simulation.advance(by: .seconds(100))
            let asked = world.server.refreshes.count
            world.server.mode = .well
            path.isSatisfied = true
            await world.scene.simulation.settle()
            #expect(world.server.refreshes.count == asked + 1)
            #expect(watch.last?.refresh == .idle)
        }
    }
}

/// A session whose source cannot renew it.
private final class FailingSession: SessionSource {
    private let count = Mutex(0)
    private let source = AsyncStream.makeStream(of: SessionState.self)

    var asked: Int { count.withLock { $0 } }

    func signIn(_ user: String) {
        source.continuation.yield(.signedIn(userID: user, accessToken: TestToken.make(userID: user)))
    }

    func restore() { source.continuation.yield(.restoring) }

    func states() -> AsyncStream<SessionState> { source.stream }

    func freshToken() async throws -> String? {
        count.withLock { $0 += 1 }
        throw SyncError(.connectivity, "no")
    }
}
