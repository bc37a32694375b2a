import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

/// Session failures of other libraries, by the row numbers of docs/field-failures.md.
@Suite struct FieldSessionTests {
    @Test func row01ThreeFailedRefreshesAreFollowedByAFourth() throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let world = try AuthScene(simulation, folder: folder, kept: "alice")
                world.server.mode = .unreachable
                let client = try await world.client()
                while world.server.refreshes.count < 3 { await simulation.advance(by: .milliseconds(50)) }
                world.server.mode = .well
                await simulation.advance(by: .seconds(10))
                #expect(world.server.refreshes.count == 4)
                let times = world.server.refreshes.map(\.seconds)
                for (wait, most) in zip(zip(times.dropFirst(), times).map { $0 - $1 }, [0.3, 0.9, 2.4]) {
                    #expect(wait > 0 && wait <= most + 0.001, "\(times)")
                }
                #expect(world.auth.userID == "alice")
                try await world.scene.insert("after it", as: "alice", on: client).delivered()
                #expect(world.scene.titles(of: "alice").contains("after it"))
            }
        }
    }

    @Test func row02ACancelledRefreshDoesNotEndTheSession() throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let world = try AuthScene(simulation, folder: folder, kept: "alice")
                let client = try await world.client()
                await simulation.settle()
                world.server.mode = .holding
                let auth = world.auth
                let asking = simulation.start { try await auth.freshToken() }
                await simulation.settle()
                asking.cancel()
                await simulation.settle()
                #expect(world.auth.userID == "alice")
                world.server.mode = .well
                world.server.release()
                await simulation.advance(by: .seconds(5))
                let isWaiting = try OwnerScene.status(of: client).needsSession
                #expect(isWaiting == false)
                #expect(world.store.session?.userID == "alice")
            }
        }
    }

    @Test func row07AQueuedWriteIsSentWithTheCurrentToken() throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let scene = try OwnerScene(simulation, folder: folder)
                let network = ScriptedTransport(simulation)
                network.serve(scene.server)
                let client = try await simulation.makeClient(network, folder: folder)
                let tokens = (1...2).map { TestToken.make(userID: "alice", serial: $0) }
                try await client.setAccessToken(tokens[0])
                network.isOnline = false
                _ = try await scene.insert("made under the first token", as: "alice", on: client)
                await simulation.advance(by: .seconds(3_600))
                try await client.setAccessToken(tokens[1])
                let before = network.sent.count
                network.isOnline = true
                await simulation.advance(by: .seconds(61))
                let used = Set(
                    network.sent.dropFirst(before).filter(\.leftDevice).compactMap { sent in
                        sent.request.headers.last { $0.name == "Authorization" }?.value
                    })
                #expect(used == ["Bearer \(tokens[1])"])
                #expect(scene.titles(of: "alice").contains("made under the first token"))
            }
        }
    }

    @Test func row24SignInsAndSignOutsAreNeverQueued() throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let world = try AuthScene(simulation, folder: folder)
                let client = try await world.client()
                world.server.mode = .unreachable
                let error = await #expect(throws: SyncError.self) {
                    try await world.auth.signIn(email: "alice@example.org", password: "x")
                }
                #expect(error?.code == .connectivity)
                await world.auth.signOut()
                await simulation.advance(by: .seconds(60))
                let depth = try await client.outboxDepth()
                #expect(depth == 0)
                for owner in [OwnerID.nobody, .user("alice")] {
                    let holdsIt = try world.scene.holds("alice@example.org", of: owner)
                    #expect(!holdsIt)
                }
            }
        }
    }
}
