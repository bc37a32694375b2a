import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

@Suite struct IdentityPolicyTests {
    private func run(
        _ body: @escaping @Sendable (OwnerScene, KizunaSyncClient, EventLog) async throws -> Void
    ) throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let scene = try OwnerScene(simulation, folder: folder)
                let client = try await scene.client { $0.identityPolicy = .block }
                let log = try await EventLog(client)
                scene.network.allowed = ["alice", nil]
                try await scene.signIn("alice", on: client)
                await simulation.settle()
                try await body(scene, client, log)
                #expect(scene.network.faults == [])
            }
        }
    }

    @Test func aTokenOfAnotherUserLatchesTheBlockAndNothingIsSent() throws {
        try run { scene, client, log in
            scene.network.allowed = ["alice"]
            let watch = OwnerWatch(client, in: scene.simulation)
            await scene.simulation.settle()
            let sent = scene.network.count
            try await client.setAccessToken(TestToken.make(userID: "bruno"))
            try await client.setAccessToken(TestToken.make(userID: "bruno", serial: 2))
            _ = try await scene.insert("held", as: "alice", on: client)
            await scene.simulation.advance(by: .seconds(600))
            #expect(try await client.checkpoint() == .blocked)
            #expect(log.events.filter { $0 == .resetRequired(reason: "identity_changed") }.count == 1)
            #expect(watch.lastTitles == ["server row of alice", "held"])
            #expect(scene.network.count == sent)
            #expect(try await client.outboxDepth() == 1)
        }
    }

    @Test func resetGivesTheOldDataUpAndServesTheNewUser() throws {
        try run { scene, client, log in
            try await client.setAccessToken(TestToken.make(userID: "bruno"))
            let watch = OwnerWatch(client, in: scene.simulation)
            await scene.simulation.settle()
            scene.network.allowed = ["bruno"]
            try await client.reset()
            await scene.simulation.settle()
            #expect(try await client.checkpoint().softBlocked == false)
            #expect(watch.lastTitles == ["server row of bruno"])
            #expect(log.events.contains(.ownerChanged))
            #expect(try scene.holds("server row of alice", of: .user("alice")) == false)
        }
    }

    @Test func theOldUsersReturnEndsTheBlock() throws {
        try run { scene, client, _ in
            _ = try await scene.insert("held", as: "alice", on: client)
            try await client.setAccessToken(TestToken.make(userID: "bruno"))
            try await client.setAccessToken(TestToken.make(userID: "alice", serial: 2))
            await scene.simulation.advance(by: .seconds(1))
            #expect(try await client.checkpoint().softBlocked == false)
            #expect(scene.titles(of: "alice") == ["server row of alice", "held"])
        }
    }

    @Test func anExplicitSignOutEndsTheBlock() throws {
        try run { scene, client, _ in
            try await client.setAccessToken(TestToken.make(userID: "bruno"))
            try await client.signOut()
            #expect(try await client.checkpoint().softBlocked == false)
            scene.network.allowed = ["bruno", nil]
            try await scene.signIn("bruno", on: client)
            let watch = OwnerWatch(client, in: scene.simulation)
            await scene.simulation.settle()
            #expect(watch.lastTitles == ["server row of bruno"])
        }
    }
}

extension KizunaSyncCheckpoint {
    fileprivate static var blocked: KizunaSyncCheckpoint {
        KizunaSyncCheckpoint(cursor: nil, softBlocked: true, softBlockReason: "identity_changed")
    }
}
