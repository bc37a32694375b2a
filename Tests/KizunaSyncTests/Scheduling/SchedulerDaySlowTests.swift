import KizunaCore
import KizunaSync
import KizunaSyncTesting
import TestSupport
import Testing

/// Twenty-four virtual hours of 200 devices that sleep, lose the network, write, and hold tokens that expire, with an
/// outage of the server at an hour when all are in use. Real schedulers; the clients' `sync` is scripted, so that the
/// day is affordable. `ClientDaySlowTests` is a day of real clients.
@Suite struct SchedulerDaySlowTests {
    private static let outage = hours(14)..<hours(14.5)
    private static let evening = hours(23.75)
    private static let end = hours(24)

    private static func hours(_ hours: Double) -> Duration { .seconds(hours * 3600) }

    @Test(arguments: [UInt64(7)]) func aDayOfTwoHundredDevices(_ seed: UInt64) throws {
        print(try Simulation.run(seed: seed) { try await Self.day($0, devices: 200) })
    }

    private static func day(_ simulation: Simulation, devices count: Int) async throws -> String {
        let server = FleetServer(simulation)
        var lives: [(device: FleetDevice, end: Task<Void, any Error>)] = []
        for index in 0..<count {
            let device = FleetDevice(simulation, server, pollInterval: 15, tellsWhy: index % 2 == 0)
            let life = Life(device: device, simulation: simulation, random: simulation.forkRandom())
            lives.append(
                (
                    device,
                    simulation.start {
                        var life = life
                        await life.live()
                    }
                ))
        }
        await advance(simulation, to: outage.lowerBound)
        server.setUp(false)
        await advance(simulation, to: outage.upperBound)
        server.setUp(true)
        await advance(simulation, to: end)
        for life in lives { try await life.end.value }
        return report(simulation.seed, lives.map(\.device), server)
    }

    private static func report(_ seed: UInt64, _ devices: [FleetDevice], _ server: FleetServer) -> String {
        let calm = load(server, hours(13.9), outage.lowerBound)
        let during = load(server, outage.lowerBound, outage.upperBound)
        let after = load(server, outage.upperBound, outage.upperBound + .seconds(120))
        let most = devices.map { $0.busiest(.zero, end) }
        let inOneMinute = most.map(\.minute).max() ?? 0
        let inOneSecond = most.map(\.second).max() ?? 0
        let inTheOutage =
            devices.map { $0.busiest(outage.lowerBound + .seconds(60), outage.upperBound).minute }.max() ?? 0
        for (index, device) in devices.enumerated() {
            #expect(device.depth == 0, "seed \(seed), device \(index)")
            #expect(device.health?.lastError == nil, "seed \(seed), device \(index)")
            #expect(device.lastSuccess > end - .seconds(20), "seed \(seed), device \(index)")
            #expect(device.attempts.count > 150, "seed \(seed), device \(index)")
            device.end()
        }
        // While all is well each write may start a run, four a second at most; while the server is down it may not.
        #expect(inOneMinute <= 80, "seed \(seed)")
        #expect(inOneSecond <= 4, "seed \(seed)")
        #expect(inTheOutage <= 20, "seed \(seed)")
        // Nobody but the devices themselves keeps them apart; at one shared instant they would be 200 in one second.
        #expect(Double(after.most) <= 3 * calm.mean, "seed \(seed)")
        #expect(after.mean <= 1.5 * calm.mean, "seed \(seed)")
        #expect(during.mean <= 1.2 * calm.mean, "seed \(seed)")
        return
            "seed \(seed): a day of \(devices.count) devices, \(devices.map(\.attempts.count).reduce(0, +)) attempts; "
            + "the most of one device in a minute \(inOneMinute) (in the outage \(inTheOutage)), in a second \(inOneSecond). Requests per second, max / "
            + "mean: before the outage \(text(calm)), in it \(text(during)), the 2 min after \(text(after))"
    }

    private static func load(_ server: FleetServer, _ from: Duration, _ to: Duration) -> (most: Int, mean: Double) {
        server.load(Int(from.seconds), Int(to.seconds))
    }

    private static func text(_ load: (most: Int, mean: Double)) -> String {
        "\(load.most) / \((load.mean * 10).rounded() / 10)"
    }

    private static func advance(_ simulation: Simulation, to instant: Duration) async {
        await simulation.advance(by: instant - simulation.elapsed)
    }

    // MARK: - One device's day

    /// One device and what happens to it, from numbers of its own.
    private struct Life {
        let device: FleetDevice
        let simulation: Simulation
        var random: SeededRandom

        /// Asleep but for some minutes now and then; in use around the outage and in the evening, which ends calm.
        mutating func live() async {
            device.sleep()
            await someSessions(until: hours(13.7))
            await pause(0...600)
            device.wakeUp()
            await use(until: hours(14.6))
            device.sleep()
            await someSessions(until: evening - .seconds(600))
            await pause(0...600)
            device.wakeUp()
            await use(until: evening)
            await advance(simulation, to: end - .milliseconds(1))
        }

        private mutating func someSessions(until end: Duration) async {
            while simulation.elapsed < end {
                await pause(7200...18_000, until: end)
                device.wakeUp()
                await use(until: min(simulation.elapsed + length(60...600), end))
                device.sleep()
            }
        }

        private mutating func use(until end: Duration) async {
            while simulation.elapsed < end {
                switch random.below(12) {
                case 0:
                    device.setOnline(false)
                    await pause(3...90, until: end)
                case 1:
                    // In and out of a cellar.
                    for _ in 0..<(4 + random.below(16)) {
                        device.setOnline(false)
                        await pause(0...2, until: end)
                        device.setOnline(true)
                        await pause(0...3, until: end)
                    }
                case 2:
                    // Typing.
                    for _ in 0..<(5 + random.below(30)) {
                        device.write(1)
                        await pause(0...2, until: end)
                    }
                default: device.write(random.below(3))
                }
                device.setOnline(true)
                await pause(5...60, until: end)
            }
        }

        private mutating func pause(_ seconds: ClosedRange<Int>, until end: Duration = SchedulerDaySlowTests.end) async
        {
            await simulation.advance(by: max(min(length(seconds), end - simulation.elapsed), .zero))
        }

        private mutating func length(_ seconds: ClosedRange<Int>) -> Duration {
            .seconds(Double(seconds.lowerBound) + random.fraction() * Double(seconds.upperBound - seconds.lowerBound))
        }
    }
}
