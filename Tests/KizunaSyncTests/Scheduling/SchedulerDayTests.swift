import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

/// A day of a fleet: network loss, sleep, expiring tokens, three outages of the server and what follows them.
@Suite struct SchedulerDaySlowTests {
    private static let hour = 3600
    /// Outages of the server, in seconds of the day.
    private static let outages = [3 * hour..<3 * hour + 1200, 12 * hour..<12 * hour + 2700, 18 * hour..<18 * hour + 300]

    @Test(arguments: [UInt64(20_250_101), 20_250_102]) func aFleetGetsThroughADay(_ seed: UInt64) throws {
        let report = try Simulation.run(seed: seed, interleaving: .shuffled) { simulation in
            try await Self.day(simulation, devices: 200, pollInterval: 15)
        }
        print(report)
    }

    private static func day(_ simulation: Simulation, devices count: Int, pollInterval: Double) async throws -> String {
        let server = FleetServer(simulation)
        var random = simulation.forkRandom()
        // Apps are opened over the first minutes, not at one instant.
        var devices: [FleetDevice] = []
        for index in 0..<count {
            devices.append(
                FleetDevice(simulation, server, pollInterval: pollInterval, tellsWhy: index % 2 == 0))
            await simulation.advance(by: .milliseconds(Int(random.next() % 1200)))
        }
        var lives: [Task<Void, any Error>] = []
        for device in devices {
            let own = random.fork()
            lives.append(simulation.start { await Self.live(device, simulation, own) })
        }
        for outage in outages {
            await simulation.advance(by: .seconds(outage.lowerBound) - simulation.elapsed)
            server.setUp(false)
            await simulation.advance(by: .seconds(outage.upperBound) - simulation.elapsed)
            server.setUp(true)
        }
        for life in lives { try await life.value }
        await simulation.advance(by: .seconds(24 * hour) - simulation.elapsed)

        var mostPerSecond = 0
        var mostPerMinuteInOutage = 0
        for device in devices {
            mostPerSecond = max(mostPerSecond, most(device.attempts, within: .seconds(1)))
            for outage in outages {
                let inside = device.attempts.filter { outage.contains(Int($0.seconds)) }
                mostPerMinuteInOutage = max(mostPerMinuteInOutage, most(inside, within: .seconds(60)))
            }
            #expect(device.depth == 0, "seed \(simulation.seed)")
            #expect(simulation.elapsed - device.lastSuccess < .seconds(60), "seed \(simulation.seed)")
        }
        var lines = ["seed \(simulation.seed): at most \(mostPerSecond) attempts of a device in 1 s"]
        lines.append("at most \(mostPerMinuteInOutage) attempts of a device in 60 s of an outage")
        #expect(mostPerSecond <= 3, "seed \(simulation.seed)")
        #expect(mostPerMinuteInOutage <= 20, "seed \(simulation.seed)")
        let calm = server.load(6 * hour, 8 * hour)
        lines.append("calm: max \(calm.most)/s, mean \(rounded(calm.mean))/s")
        for outage in outages {
            let during = server.load(outage.lowerBound, outage.upperBound)
            let after = server.load(outage.upperBound, outage.upperBound + 120)
            lines.append(
                "outage of \(outage.count) s: max \(during.most)/s, mean \(rounded(during.mean))/s; the 2 min after: "
                    + "max \(after.most)/s, mean \(rounded(after.mean))/s")
            #expect(Double(after.most) <= 4 * calm.mean, "seed \(simulation.seed)")
            #expect(during.mean <= calm.mean, "seed \(simulation.seed)")
        }
        for device in devices { device.end() }
        return lines.joined(separator: "\n  ")
    }

    /// What happens to one device until the last hour: writes, lost networks, sleep.
    private static func live(_ device: FleetDevice, _ simulation: Simulation, _ random: SeededRandom) async {
        var random = random
        while simulation.elapsed < .seconds(23 * hour) {
            await simulation.advance(by: .seconds(Int(60 + random.next() % 1800)))
            switch random.next() % 8 {
            case 0, 1, 2, 3: device.write(Int(1 + random.next() % 12))
            case 4:
                device.setOnline(false)
                await simulation.advance(by: .seconds(Int(5 + random.next() % 1200)))
                device.write(1)
                device.setOnline(true)
            case 5:
                device.sleep()
                await simulation.advance(by: .seconds(Int(300 + random.next() % 7200)))
                device.wakeUp()
            case 6:
                // A network that cannot make up its mind.
                for _ in 0..<6 {
                    device.setOnline(false)
                    await simulation.advance(by: .milliseconds(Int(200 + random.next() % 3000)))
                    device.setOnline(true)
                    await simulation.advance(by: .milliseconds(Int(200 + random.next() % 3000)))
                }
            default:
                // Somebody who writes without a pause.
                for _ in 0..<60 {
                    device.write(1)
                    await simulation.advance(by: .milliseconds(Int(100 + random.next() % 900)))
                }
            }
        }
    }

    /// The most instants within any span of this length.
    private static func most(_ instants: [Duration], within span: Duration) -> Int {
        var first = 0
        var most = 0
        for (index, instant) in instants.enumerated() {
            while instants[first] <= instant - span { first += 1 }
            most = max(most, index - first + 1)
        }
        return most
    }

    private static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
