import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

@Suite struct ControlTests {
    private func run(
        _ body: @escaping @Sendable (OwnerScene, KizunaSyncClient, EventLog) async throws -> Void
    ) throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let scene = try OwnerScene(simulation, folder: folder)
                scene.network.allowed = ["alice", "bruno", nil]
                let client = try await scene.client()
                let log = try await EventLog(client)
                try await body(scene, client, log)
            }
        }
    }

    @Test func theDepthIsToldWhenItGrowsAndWhenItFalls() throws {
        try run { scene, client, log in
            try await scene.signIn("alice", on: client)
            try await client.disableNetwork()
            _ = try await scene.insert("a", as: "alice", on: client)
            _ = try await scene.insert("b", as: "alice", on: client)
            #expect(try await client.outboxDepth() == 2)
            try await client.enableNetwork()
            try await client.sync()
            await scene.simulation.settle()
            #expect(log.depths.prefix(2) == [1, 2])
            #expect(log.depths.last == 0)
            #expect(log.events.contains(.localChanged(tables: ["items"])))
            #expect(try await client.outboxDepth() == 0)
        }
    }

    @Test func aChangeOfOwnerIsToldWithTheNewOwnersDepth() throws {
        try run { scene, client, log in
            try await client.disableNetwork()
            try await scene.signIn("alice", on: client)
            _ = try await scene.insert("a", as: "alice", on: client)
            try await scene.signIn("bruno", on: client)
            await scene.simulation.settle()
            try await scene.signIn("alice", on: client)
            await scene.simulation.settle()
            #expect(log.depths == [1, 0, 1])
            #expect(log.events.filter { $0 == .ownerChanged }.count == 3)
        }
    }

    @Test func aRejectedWriteIsTold() throws {
        try run { scene, client, log in
            try await scene.signIn("alice", on: client)
            let receipt = try await scene.insert("not mine", as: "bruno", on: client)
            await scene.simulation.advance(by: .seconds(5))
            #expect(log.events.contains(.mutationRejected(id: receipt.mutationIDs[0])))
            #expect(try OwnerScene.status(of: client).rejectedMutationCount == 1)
        }
    }

    @Test func aNewCreateEndsTheSubscriptionsOfThePrevious() throws {
        try run { scene, client, log in
            try await client.create(try client.engine().configuration)
            try await scene.signIn("alice", on: client)
            await scene.simulation.settle()
            #expect(log.events == [.engineReplaced])
        }
    }

    @Test func aCancelledSubscriptionHearsNothingMore() throws {
        try run { scene, client, log in
            log.subscription.cancel()
            log.subscription.cancel()
            try await scene.signIn("alice", on: client)
            await scene.simulation.settle()
            #expect(log.events == [])
        }
    }

    @Test func aSubscriptionCancelledByItsHandlerHearsNothingMore() throws {
        try run { scene, client, log in
            let heard = Mutex(0)
            let own = Mutex<KizunaSyncEventSubscription?>(nil)
            let subscription = try await client.on { _ in
                heard.withLock { $0 += 1 }
                own.withLock { $0 }?.cancel()
            }
            own.withLock { $0 = subscription }
            // Told at once, so that they wait for the handler together.
            let events = try client.engine().events
            for depth in 1...5 { events.tell(.queueDepth(depth)) }
            await scene.simulation.settle()
            #expect(heard.withLock { $0 } == 1)
            #expect(log.depths == [1, 2, 3, 4, 5])
        }
    }

    @Test func resetRemovesThePresentUsersDataAlone() throws {
        try run { scene, client, log in
            try await client.disableNetwork()
            try await scene.signIn("alice", on: client)
            _ = try await scene.insert("a", as: "alice", on: client)
            try await scene.signIn("bruno", on: client)
            let receipt = try await scene.insert("b", as: "bruno", on: client)
            let outcome = scene.simulation.start { try await receipt.delivered() }
            await scene.simulation.settle()
            try await client.reset()
            #expect(try await client.outboxDepth() == 0)
            #expect(try await client.pendingMutationCount(owner: "alice") == 1)
            let ended = await outcome.result
            #expect(throws: SyncError.self) { try ended.get() }
            #expect(log.depths.last == 0)
        }
    }

    @Test func theStatusSaysWhatIsMissing() throws {
        try run { scene, client, _ in
            var states: [KizunaSyncStatus] = []
            let follower = client.syncStatus.makeAsyncIterator()
            if let first = try await follower.next() { states.append(first) }
            try await client.disableNetwork()
            try await scene.signIn("alice", on: client)
            _ = try await scene.insert("a", as: "alice", on: client)
            await scene.simulation.settle()
            if let next = try await follower.next() { states.append(next) }
            try await client.enableNetwork()
            await scene.simulation.advance(by: .seconds(1))
            if let next = try await follower.next() { states.append(next) }
            #expect(states.map(\.network) == [.online, .disabled, .online])
            #expect(states.map(\.queue) == [.idle, .waitingForNetwork, .idle])
            #expect(states.map(\.pendingMutationCount) == [0, 1, 0])
            #expect(states.map(\.needsSession) == [false, false, false])
            await client.close()
            #expect(try await follower.next() == nil)
        }
    }

    @Test func theCheckpointIsClearWhereNothingBlocks() throws {
        try run { _, client, _ in
            let checkpoint = try await client.checkpoint()
            #expect(checkpoint == KizunaSyncCheckpoint(cursor: nil, softBlocked: false, softBlockReason: nil))
        }
    }

    @Test func beforeCreateEveryCallSaysSo() async throws {
        let client = KizunaSyncClient()
        await #expect(throws: SyncError.self) { try await client.checkpoint() }
        await #expect(throws: SyncError.self) { try await client.outboxDepth() }
        await #expect(throws: SyncError.self) { _ = try await client.on { _ in } }
        await #expect(throws: SyncError.self) { try await client.knownOwners() }
        await #expect(throws: SyncError.self) { try await client.signOut() }
    }
}
