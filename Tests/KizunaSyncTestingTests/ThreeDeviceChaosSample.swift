import KizunaSync
import KizunaSyncTesting
import Testing

/// The chaos test of docs/testing.md: three devices of one user, random faults, kills and restarts.
@Suite struct ThreeDeviceChaosSample {
    private struct TaskRow: Codable, Sendable, Equatable {
        var id: String
        var title: String
    }

    @Test(arguments: UInt64(1)...20)
    func threeDevicesConvergeAndEachWriteIsAppliedOnce(seed: UInt64) throws {
        try Simulation.run(seed: seed, interleaving: .shuffled) { simulation in
            let server = SimulatedServer(simulation, tables: [SimulatedTable("tasks")])
            server.latency = .milliseconds(80)
            var random = simulation.forkRandom()
            var devices: [(device: SimulatedDevice, app: SimulatedDevice.App)] = []
            for _ in 0..<3 {
                let device = try SimulatedDevice(simulation)
                device.network.serve(server)
                device.network.plantRandomFaults(0.3)
                device.network.delayBeforeHandling = .milliseconds(200)
                devices.append((device, try await device.startApp()))
            }
            var titles: Set<String> = []
            for round in 0..<30 {
                let index = Int(random.next() % 3)
                let title = "task \(round)"
                try await devices[index].app.client.from("tasks").insert(["title": title])
                titles.insert(title)
                devices[index].device.network.isOnline = random.chance(0.7)
                await simulation.advance(by: .milliseconds(Int64(random.next() % 3_000)))
                if random.chance(0.2) {
                    devices[index].app.kill()
                    devices[index].app = try await devices[index].device.startApp()
                }
            }
            for each in devices {
                each.device.network.clearFaults()
                each.device.network.isOnline = true
                try await each.app.client.sync()
            }
            try await simulation.advanceUntilQuiet(
                devices[0].device.network, devices[1].device.network, devices[2].device.network)
            #expect(server.mutations.count == titles.count)
            for each in devices {
                let list = SnapshotCollector(
                    each.app.client.from("tasks").selectAsSequence(as: [TaskRow].self), in: simulation)
                await simulation.advance(by: .seconds(5))
                #expect(Set(list.latest?.result?.map(\.title) ?? []) == titles)
                list.cancel()
            }
        }
    }
}
