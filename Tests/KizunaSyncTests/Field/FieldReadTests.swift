import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

/// Read failures of other libraries, by the row numbers of docs/field-failures.md.
@Suite struct FieldReadTests {
    @Test func row27AResponseWithTheOldValueNeverHidesAQueuedWrite() throws {
        try ReadScene.run { scene in
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(1))
            scene.transport.isOnline = false
            try await scene.client.from("tasks").update(["title": "new"]).eq("id", value: "a").execute()
            await scene.simulation.settle()
            // The response to the refetch comes before the response to the write.
            scene.transport.isOnline = true
            scene.server.latency = .milliseconds(10)
            let server = scene.server
            scene.transport.serve { request in
                let response = ScriptedResponse.respond(server.respond(to: request))
                return request.method == "GET" ? response : .after(.seconds(10), response)
            }
            try await scene.client.enableNetwork()
            _ = try await scene.once(.networkOnly).execute()
            await scene.simulation.advance(by: .seconds(90))
            let since = watch.emissions.drop { !($0.result ?? []).contains { $0.title == "new" } }
            #expect(!since.isEmpty)
            #expect(since.allSatisfy { ($0.result ?? []).first { $0.id == "a" }?.title == "new" }, "\(watch.lines)")
            #expect(watch.emissions.last?.hasPendingMutations == false)
        }
    }

    @Test func row30CachedRowsAreDeliveredAtOnceWhenAllPacketsAreLost() throws {
        try ReadScene.run { scene in
            try await scene.warmUp()
            scene.transport.serve { _ in .hold }
            let began = scene.simulation.elapsed
            let watch = scene.watch(scene.tasks())
            let once = try await scene.once(.cacheFirst).execute()
            #expect(once.result?.count == 2)
            await scene.simulation.settle()
            #expect(watch.emissions.first?.result?.count == 2)
            #expect(scene.simulation.elapsed == began)
        }
    }

    /// A live read shows the device's own writes and never an older value than before.
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func row29AnUnstableNetworkNeverShowsOldValuesAndTheQueueIsSent(seed: UInt64) throws {
        let faults = try UnstableNetworkRun.faults(seed: seed)
        #expect(faults.isEmpty, "seed \(seed): \(faults)")
    }
}

@Suite struct FieldReadSlowTests {
    @Test func row29AnUnstableNetworkNeverShowsOldValuesInManyOrders() throws {
        for seed in 10_000..<(10_300 as UInt64) {
            let faults = try UnstableNetworkRun.faults(seed: seed)
            #expect(faults.isEmpty, "seed \(seed): \(faults)")
        }
    }
}

/// One device increments a number in a row while the network fails and the process restarts.
private enum UnstableNetworkRun {
    static func faults(seed: UInt64) throws -> [String] {
        try withTemporaryFolder { folder in
            try Simulation.run(seed: seed, interleaving: .shuffled) { simulation in
                var random = simulation.forkRandom()
                let server = SimulatedServer(simulation, tables: [SimulatedTable("tasks")])
                try server.insert(#"{"id":"a","title":"0","done":false}"#, into: "tasks")
                server.latency = .milliseconds(30)
                let network = ScriptedTransport(simulation)
                network.serve(server)
                let path = FakePath()
                func start() async throws -> (KizunaSyncClient, Watch<[TaskRow]>) {
                    let client = try await simulation.makeClient(network, folder: folder) { configuration in
                        configuration.networkAvailability = path
                        configuration.tables = [KizunaTable("tasks", columns: ["id": .text, "title": .text])]
                    }
                    let tasks = client.from("tasks").selectAsSequence(as: [TaskRow].self)
                    return (client, Watch(tasks, in: simulation))
                }
                var faults: [String] = []
                var (client, watch) = try await start()
                await simulation.advance(by: .seconds(1))
                var written = 0
                func check() {
                    // The shown values of one process never decrease, and the last one is its own last write.
                    let shown = watch.emissions.compactMap { $0.result?.first.flatMap { Int($0.title) } }
                    if shown != shown.sorted() { faults.append("shown backwards: \(shown)") }
                    if let last = shown.last, last != written {
                        faults.append("shows \(last) after writing \(written)")
                    }
                }
                for _ in 0..<40 {
                    switch random.next() % 8 {
                    case 0, 1, 2:
                        written += 1
                        try await client.from("tasks").update(["title": "\(written)"]).eq("id", value: "a").execute()
                    case 3:
                        let isUp = random.chance(0.5)
                        network.isOnline = isUp
                        path.isSatisfied = isUp
                    case 4: network.plant(random.chance(0.5) ? .dropResponse : .dropBeforeHandling)
                    case 5: network.cutConnections()
                    case 6:
                        await simulation.settle()
                        check()
                        await client.close()
                        (client, watch) = try await start()
                    default: await simulation.advance(by: .milliseconds(Int(random.next() % 3_000)))
                    }
                    await simulation.settle()
                    check()
                }
                network.isOnline = true
                path.isSatisfied = true
                await simulation.advance(by: .seconds(200))
                check()
                let depth = try await client.outboxDepth()
                if depth != 0 { faults.append("\(depth) writes are queued after 200 s of a stable network") }
                if !server.rows(of: "tasks").allSatisfy({ $0.contains(#""title":"\#(written)""#) }) {
                    faults.append("the server holds \(server.rows(of: "tasks")), the last write was \(written)")
                }
                await client.close()
                return faults
            }
        }
    }
}
