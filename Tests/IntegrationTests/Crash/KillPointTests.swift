import KizunaLocal
import Testing

/// A process is killed around one insert; a later one on the same store brings it to its end, exactly once.
@Suite struct KillPointTests {
    private let job = ["insert \(noteKey(1)) milk"]

    /// The row is there once, was made once, and nothing waits.
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

    @Test func killedWhileTheRequestIsOnItsWay() async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            let scene = try CrashScene(backend)
            let fault = backend.control.add(FaultRule(.hold, method: "POST"))
            try await killWhileHeld(scene)
            #expect(try await scene.serverNotes().isEmpty)
            backend.control.removeFault(fault)
            try await expectDeliveredOnce(scene)
        }
    }

    @Test func theDeadProcesssRequestArrivesAfterTheSecondOne() async throws {
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

    @Test func killedAfterTheServersCommit() async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            let scene = try CrashScene(backend)
            backend.control.add(FaultRule(.holdAnswer, method: "POST"))
            try await killWhileHeld(scene)
            #expect(try await scene.serverNotes() == [noteKey(1): "milk"])
            try await expectDeliveredOnce(scene)
        }
    }

    @Test func killedWhenTheResponseHasCome() async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            let scene = try CrashScene(backend)
            let end = try await scene.run(job, kill: "response 1")
            #expect(end.isKilled && end.accepted == [noteKey(1)], "\(end)")
            #expect(scene.writes.map(\.status) == [201])
            try await expectDeliveredOnce(scene)
        }
    }

    /// The third commit of this job writes the verdict down; the first accepts the write and the second notes the send.
    @Test func killedBeforeTheOutcomeIsWrittenDown() async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            let scene = try CrashScene(backend)
            let end = try await scene.run(job, kill: "commit 3")
            #expect(end.isKilled && end.accepted == [noteKey(1)], "\(end)")
            #expect(scene.writes.map(\.status) == [201])
            #expect(try await scene.serverNotes() == [noteKey(1): "milk"])
            try await expectDeliveredOnce(scene)
        }
    }

    @Test func killedBeforeTheWriteIsAccepted() async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            let scene = try CrashScene(backend)
            let end = try await scene.run(job, kill: "commit 1")
            #expect(end.isKilled && end.accepted.isEmpty, "\(end)")
            #expect(try await scene.run().rejected == 0)
            #expect(try await scene.serverNotes().isEmpty)
            #expect(scene.writes.isEmpty)
        }
    }

    /// Starts the job and kills its process while the backend keeps its request or the answer to it.
    private func killWhileHeld(_ scene: CrashScene) async throws {
        let worker = try scene.start(job)
        await scene.backend.control.requests { $0.contains { $0.outcome == .held } }
        worker.kill()
        let end = try await worker.end()
        #expect(end.isKilled && end.accepted == [noteKey(1)], "\(end)")
    }
}
