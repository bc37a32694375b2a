import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

/// Making, replacing and ending engines.
@Suite struct EngineLifeTests {
    @Test func whoHearsOfANewEngineCanSubscribeToItAtOnce() throws {
        try OwnerScene.run { scene, client in
            let codes = Mutex<[String]>([])
            _ = try await client.on { event in
                guard event == .engineReplaced else { return }
                scene.simulation.start {
                    do {
                        _ = try await client.on { _ in }
                        codes.withLock { $0.append("subscribed") }
                    } catch {
                        codes.withLock { $0.append((error as? SyncError)?.code.rawValue ?? "other") }
                    }
                }
            }
            try await client.create(try client.engine().configuration)
            await scene.simulation.settle()
            #expect(codes.withLock { $0 } == ["subscribed"])
        }
    }

    @Test func ofTwoCreatesTheLastOneCountsAndTheOtherLeavesNoEngine() throws {
        try OwnerScene.run { scene, client in
            let session = FakeSession()
            var configuration = try client.engine().configuration
            configuration.session = SilentSession()
            let first = scene.simulation.start { [configuration] in try await client.create(configuration) }
            await scene.simulation.settle()
            session.signIn("alice")
            configuration.session = session
            try await client.create(configuration)
            let error = await #expect(throws: SyncError.self) { try await first.value }
            #expect(error?.code == .closed)
            await scene.simulation.settle()
            let owner = try client.engine().context.owners.openHandle?.owner
            #expect(owner == .user("alice"))
        }
    }

    @Test func aCloseDuringACreateLeavesTheClientClosed() throws {
        try OwnerScene.run { scene, client in
            var configuration = try client.engine().configuration
            configuration.session = SilentSession()
            let create = scene.simulation.start { [configuration] in try await client.create(configuration) }
            await scene.simulation.settle()
            await client.close()
            await #expect(throws: SyncError.self) { try await create.value }
            let error = await #expect(throws: SyncError.self) { try await client.checkpoint() }
            #expect(error?.code == .closed)
        }
    }
}

/// A session that never tells a state, so that `create(_:)` waits a second for it.
private struct SilentSession: SessionSource {
    func states() -> AsyncStream<SessionState> { AsyncStream { _ in } }
    func freshToken() async throws -> String? { nil }
}
