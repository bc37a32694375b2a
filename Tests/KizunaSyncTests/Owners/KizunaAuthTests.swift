import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

@Suite struct KizunaAuthTests {
    private func run(
        kept user: String? = nil, _ body: @escaping @Sendable (AuthScene) async throws -> Void
    ) throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in try await body(try AuthScene(simulation, folder: folder, kept: user)) }
        }
    }

    @Test func aSignInIsKeptAndASignOutForgotten() throws {
        try run { world in
            let client = try await world.client()
            try await world.auth.signIn(email: "alice@example.org", password: "x")
            await world.scene.simulation.settle()
            #expect(world.store.session?.userID == "alice")
            #expect(try await client.knownOwners() == ["alice"])
            await world.auth.signOut()
            #expect(world.store.session == nil)
            #expect(world.auth.userID == nil)
            #expect(world.server.logouts == ["alice"])
        }
    }

    @Test func refreshTokensRotateAndTheNewestIsKept() throws {
        try run(kept: "alice") { world in
            _ = try await world.client()
            let first = world.store.session
            await world.scene.simulation.advance(by: .seconds(3 * 3600))
            #expect(world.server.refreshes.count == 4)
            #expect(world.store.session != first)
            world.server.mode = .unreachable
            await world.scene.simulation.advance(by: .seconds(3 * 3600))
            world.server.mode = .well
            await world.scene.simulation.advance(by: .seconds(61))
            #expect(world.auth.userID == "alice")
            #expect(try await world.auth.freshToken() != nil)
        }
    }

    @Test func aBusyAuthServerSaysHowLongToWait() throws {
        try Simulation.run { simulation in
            let transport = ScriptedTransport(simulation) { _ in
                .json("{}", status: 429, headers: ["retry-after": "30"])
            }
            let gateway = AuthGateway(base: "https://project.example", publishableKey: "key", transport: transport)
            let error = await #expect(throws: SyncError.self) { try await gateway.refresh("r") }
            #expect(error?.retryAfter == .seconds(30))
        }
    }

    @Test func manyWhoNeedATokenShareOneRefresh() throws {
        try run(kept: "alice") { world in
            _ = try await world.client()
            await world.scene.simulation.settle()
            let before = world.server.refreshes.count
            let asks = (0..<20).map { _ in world.scene.simulation.start { try await world.auth.freshToken() } }
            var tokens: Set<String?> = []
            for ask in asks { tokens.insert(try await ask.value) }
            #expect(tokens.count == 1)
            #expect(world.server.refreshes.count == before + 1)
        }
    }

    @Test(arguments: [true, false])
    func aRefreshAnsweredAfterASignOutAndASignInChangesNothing(isWell: Bool) throws {
        try run(kept: "alice") { world in
            let client = try await world.client()
            await world.scene.simulation.settle()
            world.server.mode = .holding
            let late = world.scene.simulation.start { try await world.auth.freshToken() }
            await world.scene.simulation.settle()
            world.server.mode = .well
            await world.auth.signOut()
            try await world.auth.signIn(email: "bruno@example.org", password: "x")
            await world.scene.simulation.settle()
            _ = try await world.scene.insert("of bruno", as: "bruno", on: client)
            if !isWell { world.server.mode = .rejecting(status: 400, code: "refresh_token_already_used") }
            world.server.release()
            await world.scene.simulation.settle()
            world.server.mode = .well
            #expect(try await late.value == nil)
            #expect(world.auth.userID == "bruno")
            #expect(world.store.session?.userID == "bruno")
            await world.scene.simulation.advance(by: .seconds(5))
            #expect(world.scene.titles(of: "bruno") == ["server row of bruno", "of bruno"])
            #expect(world.scene.network.faults == [])
            #expect(try world.scene.strangers() == [])
        }
    }

    @Test func aSignInAnsweredAfterASignOutThrowsAndEndsItsSession() throws {
        try run { world in
            _ = try await world.client()
            world.server.mode = .holding
            let late = world.scene.simulation.start {
                try await world.auth.signIn(email: "alice@example.org", password: "x")
            }
            await world.scene.simulation.settle()
            await world.auth.signOut()
            world.server.mode = .well
            world.server.release()
            await #expect(throws: SyncError.self) { try await late.value }
            await world.scene.simulation.settle()
            #expect(world.auth.userID == nil)
            #expect(world.store.session == nil)
            #expect(world.server.logouts == ["alice"])
        }
    }

    @Test(arguments: [true, false])
    func ofTwoSignInsTheLastAskedForCounts(isLastAnsweredFirst: Bool) throws {
        try run { world in
            _ = try await world.client()
            world.server.mode = .holding
            var entries: [Task<Void, any Error>] = []
            for user in ["alice", "bruno"] {
                entries.append(
                    world.scene.simulation.start {
                        try await world.auth.signIn(email: "\(user)@example.org", password: "x")
                    })
                await world.scene.simulation.settle()
            }
            world.server.mode = .well
            world.server.release(last: isLastAnsweredFirst)
            await world.scene.simulation.settle()
            world.server.release()
            await world.scene.simulation.settle()
            #expect(world.auth.userID == "bruno")
            #expect(world.store.session?.userID == "bruno")
            _ = await entries[0].result
        }
    }

    /// The server gives a new refresh token with each refresh, and takes an old one for stolen.
    @Test func twoProcessesThatShareAStoreRefreshOneSession() throws {
        try run(kept: "alice") { world in
            let client = try await world.client()
            await world.scene.simulation.advance(by: .seconds(100))
            let other = try world.otherProcess()
            var states = other.states().makeAsyncIterator()
            await world.scene.simulation.advance(by: .seconds(8 * 3600))
            #expect(world.server.refreshes.count > 16)
            #expect(try await world.auth.freshToken() != nil)
            #expect(try await other.freshToken() != nil)
            #expect(other.userID == "alice")
            _ = await states.next()
            await client.close()
        }
    }

    @Test func aStoreThatKeepsNothingNewDoesNotBringSpentTokensBack() throws {
        try run(kept: "alice") { world in
            let client = try await world.client()
            world.store.isFixed = true
            await world.scene.simulation.advance(by: .seconds(8 * 3600))
            #expect(world.server.refreshes.count == 9)
            #expect(world.server.logouts == [])
            #expect(try await world.auth.freshToken() != nil)
            await client.close()
        }
    }

    @Test func aSlowStoreEndsOnTheNewestSession() throws {
        try run { world in
            _ = try await world.client()
            world.store.hold(true)
            try await world.auth.signIn(email: "alice@example.org", password: "x")
            await world.scene.simulation.settle()
            let signOut = world.scene.simulation.start { await world.auth.signOut() }
            await world.scene.simulation.settle()
            world.store.hold(false)
            try await signOut.value
            await world.scene.simulation.settle()
            #expect(world.store.session == nil)
        }
    }

    @Test func aSignOutThatCannotBeWrittenDownIsWrittenDownLater() throws {
        try run(kept: "alice") { world in
            _ = try await world.client()
            await world.scene.simulation.settle()
            world.store.isLocked = true
            await world.auth.signOut()
            #expect(world.store.session?.userID == "alice")
            world.store.isLocked = false
            await world.scene.simulation.advance(by: .seconds(1))
            #expect(world.store.session == nil)
        }
    }

    @Test(arguments: [Duration.seconds(3600), .seconds(2 * 86_400), .seconds(-86_400)])
    func aWrongWallClockNeitherRefreshesMoreNorSignsOut(offset: Duration) throws {
        try run(kept: "alice") { world in
            world.scene.simulation.setWallClockOffset(offset)
            let client = try await world.client()
            let watch = OwnerWatch(client, in: world.scene.simulation)
            for _ in 0..<8 {
                await world.scene.simulation.advance(by: .seconds(1800))
                world.scene.simulation.setWallClockOffset(.zero - offset)
                await world.scene.simulation.advance(by: .seconds(1800))
                world.scene.simulation.setWallClockOffset(offset)
            }
            // The first one restores the session; then one each 3,540 s of 8 hours.
            #expect(world.server.refreshes.count == 9)
            #expect(world.auth.userID == "alice")
            let shown = watch.titles.compactMap { $0 }
            #expect(shown == [["server row of alice"]])
            let isWaiting = try OwnerScene.status(of: client).needsSession
            #expect(isWaiting == false)
        }
    }

    @Test func aSignUpThatMustBeConfirmedSignsNobodyIn() throws {
        try run { world in
            let isIn = try await world.auth.signUp(email: "alice@example.org", password: "x")
            #expect(isIn)
            world.server.mode = .rejecting(status: 422, code: "user_already_exists")
            await #expect(throws: SyncError.self) {
                try await world.auth.signUp(email: "alice@example.org", password: "x")
            }
            #expect(world.auth.userID == "alice")
        }
    }
}
