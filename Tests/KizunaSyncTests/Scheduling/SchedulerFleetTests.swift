import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

/// A fleet of many devices on the recovery of their server.
@Suite struct SchedulerFleetSlowTests {
    @Test(arguments: [UInt64(1), 2]) func aFleetDoesNotStampedeARecoveringServer(_ seed: UInt64) throws {
        print(
            try Simulation.run(seed: seed, interleaving: .shuffled) { simulation in
                try await Self.recovery(simulation, devices: 200)
            })
    }

    /// Ten calm minutes, an outage of ten minutes in which half of the devices write, and ten minutes after it.
    private static func recovery(_ simulation: Simulation, devices count: Int) async throws -> String {
        let server = FleetServer(simulation)
        let devices = await fleet(simulation, server, count)
        let begin = Int(simulation.elapsed.seconds) + 60
        let outage = begin + 600..<begin + 1200
        await simulation.advance(by: .seconds(outage.lowerBound) - simulation.elapsed)
        server.setUp(false)
        for round in 0..<10 {
            for (index, device) in devices.enumerated() where index % 2 == 0 { device.write(1 + (index + round) % 5) }
            await simulation.advance(by: .seconds(60))
        }
        server.setUp(true)
        await simulation.advance(by: .seconds(600))
        let calm = server.load(begin, outage.lowerBound)
        let during = server.load(outage.lowerBound + 60, outage.upperBound)
        let after = server.load(outage.upperBound, outage.upperBound + 120)
        for device in devices {
            #expect(device.depth == 0, "seed \(simulation.seed)")
            device.end()
        }
        // A shared instant would be all 200 in one second.
        #expect(Double(after.most) <= 3 * calm.mean, "seed \(simulation.seed)")
        #expect(during.mean <= calm.mean * 1.2, "seed \(simulation.seed)")
        return "seed \(simulation.seed): \(count) devices; per second max / mean: calm \(text(calm)), outage "
            + "\(text(during)), the 2 min after \(text(after))"
    }

    /// Apps are opened over some minutes, not at one instant.
    private static func fleet(_ simulation: Simulation, _ server: FleetServer, _ count: Int) async -> [FleetDevice] {
        var devices: [FleetDevice] = []
        for index in 0..<count {
            devices.append(FleetDevice(simulation, server, pollInterval: 15, tellsWhy: index % 2 == 0))
            await simulation.advance(by: .milliseconds(Int(simulation.nextRandom() % 600)))
        }
        return devices
    }

    private static func text(_ load: (most: Int, mean: Double)) -> String {
        "\(load.most) / \((load.mean * 10).rounded() / 10)"
    }
}
