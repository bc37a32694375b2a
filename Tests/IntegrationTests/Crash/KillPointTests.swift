import KizunaLocal
import Testing

/// A process is killed at each step of one insert; the next process on the same store delivers it exactly once.
@Suite struct KillPointTests {
    private let job = ["insert \(noteKey(1)) milk"]

    /// Expects one row that was inserted once, and an empty queue.
    private func expectDeliveredOnce(_ scene: CrashScene) async throws {
        let end = try await scene.run()
        #expect(end.rejected == 0, "\(end)")
        #expect(try await scene.serverNotes() == [noteKey(1): "milk"])
        #expect(try await scene.insertedTwice().isEmpty)
        let before = scene.writes.count
        #expect(try await scene.run().rejected == 0)
        #expect(scene.writes.count == before, "an empty queue sends nothing")
    }

    @Test func killedBeforeTheRequestLeaves() async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            let scene = try CrashScene(backend)
            let end = try await scene.run(job, kill: "send 1")
            #expect(end.isKilled && end.accepted == [noteKey(1)], "\(end)")
            #expect(scene.writes.isEmpty)
            try await expectDeliveredOnce(scene)
        }
    }

    @Test func killedWhileTheRequestIsInFlight() async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            let scene = try CrashScene(backend)
            let fault = backend.control.add(FaultRule(.hold, method: "POST"))
            try await killWhileHeld(scene)
            #expect(try await scene.serverNotes().isEmpty)
            backend.control.removeFault(fault)
            try await expectDeliveredOnce(scene)
        }
    }

    @Test func theRequestOfTheKilledProcessArrivesAfterTheSecondOne() async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            let scene = try CrashScene(backend)
            let fault = backend.control.add(FaultRule(.hold, method: "POST"))
            try await killWhileHeld(scene)
            try await expectDeliveredOnce(scene)
            backend.control.removeFault(fault)
            let late = await backend.control.requests { $0.first?.outcome != .held }
            #expect(late.first?.status == 409)
            #expect(try await scene.serverNotes() == [noteKey(1): "milk"])
            #expect(try await scene.insertedTwice().isEmpty)
        }
    }

    @Test func killedAfterTheCommitOfTheServer() async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            let scene = try CrashScene(backend)
            backend.control.add(FaultRule(.holdAnswer, method: "POST"))
            try await killWhileHeld(scene)
            #expect(try await scene.serverNotes() == [noteKey(1): "milk"])
            try await expectDeliveredOnce(scene)
        }
    }

    @Test func killedAfterTheResponse() async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            let scene = try CrashScene(backend)
            let end = try await scene.run(job, kill: "response 1")
            #expect(end.isKilled && end.accepted == [noteKey(1)], "\(end)")
            #expect(scene.writes.map(\.status) == [201])
            try await expectDeliveredOnce(scene)
        }
    }

    /// The first commit queues the mutation, the second persists the send, the third stores the outcome.
    @Test func killedBeforeTheOutcomeIsCommitted() async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            let scene = try CrashScene(backend)
            let end = try await scene.run(job, kill: "commit 3")
            #expect(end.isKilled && end.accepted == [noteKey(1)], "\(end)")
            #expect(scene.writes.map(\.status) == [201])
            #expect(try await scene.serverNotes() == [noteKey(1): "milk"])
            try await expectDeliveredOnce(scene)
        }
    }

    @Test func killedBeforeTheMutationIsQueued() async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            let scene = try CrashScene(backend)
            let end = try await scene.run(job, kill: "commit 1")
            #expect(end.isKilled && end.accepted.isEmpty, "\(end)")
            #expect(try await scene.run().rejected == 0)
            #expect(try await scene.serverNotes().isEmpty)
            #expect(scene.writes.isEmpty)
        }
    }

    /// Starts the scenario and kills its process while the backend holds its request or the response.
    private func killWhileHeld(_ scene: CrashScene) async throws {
        let worker = try scene.start(job)
        await scene.backend.control.requests { $0.contains { $0.outcome == .held } }
        worker.kill()
        let end = try await worker.end()
        #expect(end.isKilled && end.accepted == [noteKey(1)], "\(end)")
    }
}
