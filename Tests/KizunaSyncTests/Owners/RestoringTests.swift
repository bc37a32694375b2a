import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

/// A stored session that is restored, and one that is not: with every end (docs/spec/reads.md, Matrix of a live read).
@Suite struct RestoringTests {
    /// Alice was here before, and a process left. Gives back what the next process shows.
    private func next(
        _ session: FakeSession, strategy: SequenceReadStrategy = .cacheFirstThenNetwork,
        _ body: @escaping @Sendable (OwnerScene, KizunaSyncClient, OwnerWatch) async throws -> Void
    ) throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let scene = try OwnerScene(simulation, folder: folder)
                scene.network.allowed = ["alice"]
                let before = FakeSession()
                before.signIn("alice")
                let client = try await scene.client(session: before)
                let watch = OwnerWatch(client, in: simulation)
                await simulation.settle()
                #expect(watch.lastTitles == ["server row of alice"])
                await client.close()
                scene.network.allowed = session.current == .signedOut ? [nil] : []
                let next = try await scene.client(session: session)
                let again = OwnerWatch(next, in: simulation, strategy: strategy)
                await simulation.advance(by: .seconds(1))
                try await body(scene, next, again)
                await next.close()
                #expect(scene.network.faults == [])
            }
        }
    }

    private static let alice = ["server row of alice"]

    @Test func whileRestoringTheStoredRowsShowAndNothingIsSent() throws {
        try next(FakeSession()) { scene, client, watch in
            await scene.simulation.advance(by: .seconds(3600))
            #expect(watch.titles == [Self.alice])
            #expect(watch.last?.refresh == .refreshing)
            let isWaiting = try OwnerScene.status(of: client).needsSession
            #expect(isWaiting == true)
        }
    }

    @Test func restoredAsTheStoredUserTheRowsNeverLeaveTheScreen() throws {
        let session = FakeSession()
        try next(session) { scene, _, watch in
            scene.network.allowed = ["alice"]
            session.signIn("alice")
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.titles == [Self.alice])
            #expect(watch.last?.refresh == .idle)
            #expect(watch.last?.isFromCache == false)
        }
    }

    @Test func restoredAsNobodyTheRowsAreDropped() throws {
        let session = FakeSession()
        try next(session) { scene, _, watch in
            scene.network.allowed = [nil]
            session.signOut()
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.titles.first == .some(Self.alice))
            #expect(watch.last?.result == [])
            #expect(watch.last?.refresh == .idle)
            let isOnDisk = try scene.holds(Self.alice[0], of: .user("alice"))
            #expect(!isOnDisk)
        }
    }

    @Test func restoredAsSomebodyElseOnlyThatUsersRowsAreLeft() throws {
        let session = FakeSession()
        try next(session) { scene, _, watch in
            scene.network.allowed = ["bruno"]
            session.signIn("bruno")
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.titles == [Self.alice, nil, ["server row of bruno"]])
        }
    }

    @Test func withoutAStoredSessionTheFormerUsersRowsAreNeverShown() throws {
        try next(FakeSession(.signedOut)) { scene, _, watch in
            scene.network.allowed = [nil]
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.hasShownNoRow)
        }
    }

    @Test func aSourceThatTellsNoStateAtAllIsNotWaitedForLong() throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let scene = try OwnerScene(simulation, folder: folder)
                let client = try await scene.client { $0.session = SilentSession() }
                #expect(simulation.elapsed == .seconds(1))
                let isWaiting = try OwnerScene.status(of: client).needsSession
                #expect(isWaiting == true)
            }
        }
    }

    @Test func anAppThatHandsTokensOverShowsTheLastUsersRowsUntilItDoes() throws {
        try OwnerScene.run(allowing: ["alice", nil]) { scene, client in
            try await scene.signIn("alice", on: client)
            let watch = OwnerWatch(client, in: scene.simulation)
            await scene.simulation.settle()
            #expect(watch.last?.result?.count == 1)
            await client.close()
            scene.network.allowed = []
            let next = try await scene.client()
            let again = OwnerWatch(next, in: scene.simulation)
            await scene.simulation.advance(by: .seconds(60))
            #expect(again.titles == [Self.alice])
            scene.network.allowed = [nil]
            try await next.signOut()
            await scene.simulation.settle()
            #expect(again.last?.result == [])
            await next.close()
            let third = try await scene.client()
            let last = OwnerWatch(third, in: scene.simulation)
            await scene.simulation.settle()
            #expect(last.hasShownNoRow)
            #expect(scene.network.faults == [])
        }
    }
}

/// A session source that never says anything.
private struct SilentSession: SessionSource {
    func states() -> AsyncStream<SessionState> { AsyncStream { _ in } }
    func freshToken() async throws -> String? { nil }
}
