import KizunaCore
import KizunaPostgREST
import KizunaSync
import KizunaSyncTesting
import Testing

/// Reads that embed another table, while that table is written.
@Suite struct EmbeddedReadTests {
    private struct Comment: Codable, Sendable {
        var id: String
        var text: String
    }

    /// A scene whose server has comments too, and answers `select=*,comments(*)` with each task's title and how many
    /// comments there are.
    private static func run(_ body: @escaping @Sendable (ReadScene) async throws -> Void) throws {
        try Simulation.run { simulation in
            let server = SimulatedServer(
                simulation,
                tables: [
                    SimulatedTable("tasks"), SimulatedTable("other"),
                    SimulatedTable(
                        "comments",
                        check: {
                            $0["text"] == "" ? .checkViolation(table: "comments", constraint: "has_text") : nil
                        }),
                ])
            server.latency = .milliseconds(50)
            try server.insert(#"[{"id":"a","title":"one","done":false}]"#, into: "tasks")
            var options = ReadScene.Options()
            options.configure = { configuration in
                configuration.tables += [KizunaTable("comments"), KizunaTable("other")]
            }
            let scene = try await ReadScene(simulation, options, server: server)
            scene.transport.serve { request in
                guard request.method == "GET", request.url.contains("/tasks?"), request.url.contains("comments") else {
                    return .after(server.latency, .respond(server.respond(to: request)))
                }
                let count = server.rows(of: "comments").count
                return .after(server.latency, .json(#"[{"id":"a","title":"one \#(count)","done":false}]"#))
            }
            try await body(scene)
        }
    }

    private static func embedding(_ scene: ReadScene) -> QuerySnapshotSequence<[TaskRow]> {
        scene.client.from("tasks").selectAsSequence("id,title,done,comments(*)", as: [TaskRow].self)
    }

    @Test func aQueuedWriteSaysThatTheRowsMayNotFollowAndADeliveredOneFetchesThem() throws {
        try Self.run { scene in
            let watch = scene.watch(Self.embedding(scene))
            await scene.simulation.advance(by: .seconds(1))
            _ = try await scene.client.from("comments").insert(Comment(id: "c", text: "hi")).delivered()
            await scene.simulation.advance(by: .seconds(1))
            #expect(
                watch.lines == [
                    "nil cache @never refreshing", "[one 0] server @0.05 idle", "[one 0] cache @0.05 idle",
                    "[one 0] cache @0.05 refreshing", "[one 1] server @1.1 idle",
                ])
        }
    }

    @Test func whileAWriteWaitsTheReadIsNotAskedAgainAndAfterItIsOnce() throws {
        try Self.run { scene in
            let watch = scene.watch(Self.embedding(scene))
            await scene.simulation.advance(by: .seconds(1))
            scene.transport.isOnline = false
            try await scene.client.from("comments").insert(Comment(id: "c", text: "hi"))
            await scene.simulation.advance(by: .seconds(30))
            #expect(watch.lines.last == "[one 0] cache @0.05 idle")
            #expect(scene.readTimes == [0])
            scene.transport.isOnline = true
            await scene.simulation.advance(by: .seconds(120))
            #expect(watch.lines.last?.hasPrefix("[one 1] server") == true)
            #expect(scene.readTimes.count == 2)
        }
    }

    @Test func aRejectedWriteFetchesTheRowsAgain() throws {
        try Self.run { scene in
            let watch = scene.watch(Self.embedding(scene))
            await scene.simulation.advance(by: .seconds(1))
            try await scene.client.from("comments").insert(Comment(id: "c", text: ""))
            await scene.simulation.advance(by: .seconds(2))
            #expect(watch.lines.contains("[one 0] cache @0.05 refreshing"))
            #expect(watch.lines.last?.hasPrefix("[one 0] server @1") == true)
            #expect(scene.readTimes.count { $0 > 0 } >= 1)
        }
    }

    @Test func aWithdrawnWriteFetchesTheRowsAgain() throws {
        try Self.run { scene in
            let watch = scene.watch(Self.embedding(scene))
            await scene.simulation.advance(by: .seconds(1))
            scene.transport.isOnline = false
            let receipt = try await scene.client.from("comments").insert(Comment(id: "c", text: "hi"))
            await scene.simulation.settle()
            #expect(watch.lines.last == "[one 0] cache @0.05 idle")
            scene.transport.isOnline = true
            try await scene.client.discard(receipt.mutationIDs[0])
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.lines.last?.hasPrefix("[one 0] server @1") == true)
        }
    }

    @Test func anAnswerAskedForBeforeTheWriteWasDeliveredIsAskedAgain() throws {
        try Self.run { scene in
            scene.server.latency = .seconds(1)
            let watch = scene.watch(Self.embedding(scene))
            await scene.simulation.advance(by: .milliseconds(20))
            scene.server.latency = .milliseconds(10)
            _ = try await scene.client.from("comments").insert(Comment(id: "c", text: "hi")).delivered()
            await scene.simulation.advance(by: .seconds(3))
            #expect(watch.lines.filter { $0.contains("server") } == ["[one 1] server @1.01 idle"])
        }
    }

    @Test func aWriteToATableThatIsDeclaredAndNotShownChangesNothing() throws {
        try Self.run { scene in
            let watch = scene.watch(Self.embedding(scene))
            await scene.simulation.advance(by: .seconds(1))
            _ = try await scene.client.from("other").insert(Comment(id: "c", text: "hi")).delivered()
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.lines == ["nil cache @never refreshing", "[one 0] server @0.05 idle"])
        }
    }

    @Test func aOneShotReadSaysSoToo() throws {
        try Self.run { scene in
            scene.transport.enqueue(.json(#"{"message":"busy"}"#, status: 503))
            try await scene.client.from("comments").insert(Comment(id: "c", text: "hi"))
            await scene.simulation.settle()
            let read = scene.client.from("tasks").select(
                "id,title,done,comments(*)", as: [TaskRow].self, readStrategy: .networkOnly)
            #expect(try await read.execute().line == "[one 0] cache @0.05 idle")
            await scene.simulation.advance(by: .seconds(2))
            #expect(try await read.execute().line.hasPrefix("[one 1] server"))
        }
    }
}
