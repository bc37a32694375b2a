import Foundation
import KizunaCore
import KizunaStore
import KizunaSync
import KizunaSyncTesting
import Testing

@Suite struct SignOutTests {
    private func run(
        policy: SignOutPolicy = .keep,
        _ body: @escaping @Sendable (OwnerScene, KizunaSyncClient) async throws -> Void
    ) throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let scene = try OwnerScene(simulation, folder: folder)
                let client = try await scene.client { $0.signOutPolicy = policy }
                try await body(scene, client)
                #expect(scene.network.faults == [])
            }
        }
    }

    @Test func aSignOutTakesTheRowsFromScreenAndDiskAndSealsTheQueue() throws {
        try run { scene, client in
            try await scene.signIn("alice", on: client)
            let watch = OwnerWatch(client, in: scene.simulation)
            await scene.simulation.settle()
            #expect(try scene.holds("server row of alice", of: .user("alice")) == true)
            scene.server.outage = SimulatedRejection(503, code: "PGRST001", message: "no connection")
            let receipt = try await scene.insert("unsent", as: "alice", on: client)
            let outcome = scene.simulation.start { try await receipt.delivered() }
            await scene.simulation.settle()
            try await client.signOut()
            #expect(try scene.holds("server row of alice", of: .user("alice")) == false)
            await scene.simulation.settle()
            #expect(watch.last?.result == nil)
            #expect(try await client.pendingMutationCount(owner: "alice") == 1)
            #expect(try await client.outboxDepth() == 0)
            let ended = await outcome.result
            #expect(throws: SyncError.self) { try ended.get() }
            scene.server.outage = nil
            scene.network.allowed = ["alice", "bruno", nil]
            try await scene.signIn("bruno", on: client)
            await scene.simulation.advance(by: .seconds(60))
            #expect(scene.titles(of: "alice") == ["server row of alice"])
            #expect(watch.lastTitles == ["server row of bruno"])
            try await scene.signIn("alice", on: client)
            await scene.simulation.advance(by: .seconds(5))
            #expect(scene.titles(of: "alice") == ["server row of alice", "unsent"])
            #expect(watch.lastTitles == ["server row of alice", "unsent"])
            #expect(try await client.knownOwners() == ["alice", "bruno"])
        }
    }

    @Test func discardRemovesTheQueueToo() throws {
        try run(policy: .discard) { scene, client in
            try await scene.signIn("alice", on: client)
            try await client.disableNetwork()
            _ = try await scene.insert("unsent", as: "alice", on: client)
            try await client.signOut()
            #expect(try await client.pendingMutationCount(owner: "alice") == 0)
            #expect(try scene.holds("unsent", of: .user("alice")) == false)
        }
    }

    @Test func deliverThenClearDeliversFirst() throws {
        try run(policy: .deliverThenClear(deadline: .seconds(10))) { scene, client in
            scene.network.allowed = ["alice", nil]
            try await scene.signIn("alice", on: client)
            scene.server.outage = SimulatedRejection(503, code: "PGRST001", message: "no connection")
            _ = try await scene.insert("unsent", as: "alice", on: client)
            await scene.simulation.settle()
            let signOut = scene.simulation.start { try await client.signOut() }
            await scene.simulation.advance(by: .seconds(3))
            scene.server.outage = nil
            try await signOut.value
            #expect(scene.titles(of: "alice") == ["server row of alice", "unsent"])
            #expect(try scene.holds("unsent", of: .user("alice")) == false)
        }
    }

    @Test func deliverThenClearSealsWhatIsNotDeliveredInTime() throws {
        try run(policy: .deliverThenClear(deadline: .seconds(10))) { scene, client in
            try await scene.signIn("alice", on: client)
            try await client.disableNetwork()
            _ = try await scene.insert("unsent", as: "alice", on: client)
            let begun = scene.simulation.elapsed
            try await client.signOut()
            #expect(scene.simulation.elapsed - begun == .seconds(10))
            #expect(try await client.pendingMutationCount(owner: "alice") == 1)
        }
    }

    @Test func deliverThenClearLeavesAnotherUserWhoCameMeanwhileSignedIn() throws {
        try run(policy: .deliverThenClear(deadline: .seconds(10))) { scene, client in
            scene.network.allowed = ["alice", "bruno", nil]
            try await scene.signIn("alice", on: client)
            try await client.disableNetwork()
            _ = try await scene.insert("of alice", as: "alice", on: client)
            let signOut = scene.simulation.start { try await client.signOut() }
            await scene.simulation.advance(by: .seconds(1))
            try await scene.signIn("bruno", on: client)
            _ = try await scene.insert("of bruno", as: "bruno", on: client)
            try await client.enableNetwork()
            try await signOut.value
            await scene.simulation.advance(by: .seconds(5))
            #expect(scene.titles(of: "bruno") == ["server row of bruno", "of bruno"])
            #expect(try await client.pendingMutationCount(owner: "alice") == 1)
            let present = try client.engine().context.owners.openHandle?.owner
            #expect(present == .user("bruno"))
        }
    }

    @Test func whereASourceTellsTheSessionTheClientSignsNobodyOut() throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let scene = try OwnerScene(simulation, folder: folder)
                let session = FakeSession()
                session.signIn("alice")
                let client = try await scene.client(session: session) {
                    $0.signOutPolicy = .deliverThenClear(deadline: .seconds(1))
                }
                scene.network.allowed = ["alice"]
                let watch = OwnerWatch(client, in: simulation)
                await simulation.settle()
                await #expect(throws: SyncError.self) { try await client.signOut() }
                #expect(watch.last?.result?.count == 1)
            }
        }
    }

    @Test func aProcessThatEndsInTheMiddleOfASignOutShowsNothingAtTheNextStart() throws {
        try run { scene, client in
            try await scene.signIn("alice", on: client)
            let watch = OwnerWatch(client, in: scene.simulation)
            await scene.simulation.settle()
            #expect(watch.last?.result?.count == 1)
            await client.close()
            // What stands on the disk between the note of the sign-out and the sealing.
            try OwnerDirectory(dataDirectory: scene.folder.path, projectURL: "https://project.example")
                .remember(.nobody, unsealed: [.user("alice")])
            scene.network.allowed = [nil]
            let next = try await scene.client()
            let again = OwnerWatch(next, in: scene.simulation)
            await scene.simulation.settle()
            #expect(again.hasShownNoRow)
            #expect(try scene.holds("server row of alice", of: .user("alice")) == false)
        }
    }

    @Test func aWriteRightAfterASignInIsTheNewUsers() throws {
        try run { scene, client in
            try await client.disableNetwork()
            for user in ["alice", "bruno", "alice", "clara"] {
                try await scene.signIn(user, on: client)
                _ = try await scene.insert("first of \(user)", as: user, on: client)
            }
            #expect(try await client.pendingMutationCount(owner: "alice") == 2)
            #expect(try await client.pendingMutationCount(owner: "bruno") == 1)
            #expect(try await client.pendingMutationCount(owner: "clara") == 1)
            #expect(try await client.pendingMutationCount(owner: nil) == 0)
            await client.close()
            #expect(try scene.strangers() == [])
        }
    }

    @Test func aFormerUsersStoreCanBeRemovedAndThePresentOnesCannot() throws {
        try run { scene, client in
            try await client.disableNetwork()
            try await scene.signIn("alice", on: client)
            _ = try await scene.insert("unsent", as: "alice", on: client)
            await #expect(throws: SyncError.self) { try await client.removeOwner("alice") }
            try await scene.signIn("bruno", on: client)
            try await client.removeOwner("alice")
            try await client.removeOwner("alice")
            #expect(try await client.knownOwners() == ["bruno"])
            #expect(try scene.bytes(of: .user("alice")) == [])
        }
    }
}
