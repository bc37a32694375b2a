import Foundation
import KizunaCore
import KizunaStore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

/// Stores that cannot be opened, or not be written at the end.
@Suite struct StoreFailureTests {
    @Test func aStoreThatCouldNotBeOpenedIsTriedAgainWhenItIsAskedFor() throws {
        try OwnerScene.run { scene, client in
            let path = try #require(scene.path(of: .user("bruno")))
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try await scene.signIn("bruno", on: client)
            await #expect(throws: SyncError.self) { try await client.outboxDepth() }
            await #expect(throws: SyncError.self) { try await client.outboxDepth() }
            try FileManager.default.removeItem(atPath: path)
            let watch = OwnerWatch(client, in: scene.simulation)
            await scene.simulation.settle()
            #expect(watch.lastTitles == ["server row of bruno"])
            #expect(try await client.outboxDepth() == 0)
        }
    }

    @Test func aStoreThatCannotBeOpenedKeepsNobodySignedIn() throws {
        try OwnerScene.run { scene, client in
            let path = try #require(scene.path(of: .user("bruno")))
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try await scene.signIn("bruno", on: client)
            try await client.signOut()
            let owner = try client.engine().context.owners.openHandle?.owner
            #expect(owner == .nobody)
        }
    }

    @Test func aSignOutWhoseRowsCannotBeRemovedIsASignOutAllTheSame() throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let isFull = Mutex(false)
                var dependencies = Engine.Dependencies()
                dependencies.environment = simulation.environment
                dependencies.transport = ScriptedTransport(simulation) { _ in .json("[]") }
                dependencies.changeSignal = { _ in nil }
                dependencies.willCommit = { () throws(SyncError) in
                    if isFull.withLock({ $0 }) { throw SyncError(.diskFull, "full") }
                }
                let client = KizunaSyncClient(dependencies: dependencies)
                try await client.create(
                    KizunaSyncConfiguration(
                        url: try #require(URL(string: "https://project.example")), publishableKey: "key",
                        dataDirectory: folder, signOutPolicy: .deliverThenClear(deadline: .seconds(5))))
                try await client.setAccessToken(TestToken.make(userID: "alice"))
                #expect(try await client.outboxDepth() == 0)
                isFull.withLock { $0 = true }
                try await client.signOut()
                isFull.withLock { $0 = false }
                let owner = try client.engine().context.owners.openHandle?.owner
                #expect(owner == .nobody)
                await client.close()
            }
        }
    }
}
