import KizunaSync
import KizunaSyncTesting
import Testing

/// The fakes for the foreground and the doorbell cause runs of a real scheduler.
@Suite struct FakeTriggerTests {
    @Test func theForegroundAndTheDoorbellEachCauseARun() throws {
        try Simulation.run { simulation in
            let server = SimulatedServer(simulation, tables: [SimulatedTable("tasks")])
            let network = ScriptedTransport(simulation)
            network.serve(server)
            let client = try await simulation.makeClient(network)
            let list = SnapshotCollector(
                client.from("tasks").selectAsSequence(as: [[String: String]].self), in: simulation)
            let foreground = FakeForeground()
            let wakeup = FakeWakeup()
            let scheduler = KizunaSyncScheduler(
                client: client, pollInterval: 0, pathMonitor: FakePath(), foregroundSource: foreground,
                realtime: wakeup, realtimeTables: ["tasks"], refreshSession: { () -> Bool in true }, jitterSource: { 0 }
            )
            scheduler.start()
            await simulation.advance(by: .seconds(60))
            #expect(wakeup.topics == ["kizunasync:tasks"])
            #expect(foreground.isStarted)
            let start = server.requestCount("GET")
            foreground.activate()
            await simulation.advance(by: .seconds(60))
            #expect(server.requestCount("GET") == start + 1)
            wakeup.ring(table: "notes")
            await simulation.advance(by: .seconds(60))
            #expect(server.requestCount("GET") == start + 1)
            wakeup.ring(table: "tasks")
            await simulation.advance(by: .seconds(60))
            #expect(server.requestCount("GET") == start + 2)
            scheduler.stop()
            #expect(wakeup.topics.isEmpty)
            list.cancel()
        }
    }
}
