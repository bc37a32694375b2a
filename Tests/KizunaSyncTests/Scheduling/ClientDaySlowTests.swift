import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import TestSupport
import Testing

/// Twenty-four virtual hours of two devices of one user: real clients with schedulers, against a simulated server that has
/// an outage and does not accept tokens that have expired.
@Suite struct ClientDaySlowTests {
    private static let outage = Duration.seconds(14 * 3600)..<Duration.seconds(14 * 3600 + 1800)
    private static let evening = Duration.seconds(23.5 * 3600)
    private static let end = Duration.seconds(24 * 3600)

    @Test(arguments: [UInt64(3)]) func aDayOfTwoDevices(_ seed: UInt64) throws {
        print(try Simulation.run(seed: seed) { try await Self.day($0) })
    }

    private static func day(_ simulation: Simulation) async throws -> String {
        let server = SimulatedServer(simulation, tables: [SimulatedTable("tasks", ownerColumn: "user_id")])
        server.latency = .milliseconds(80)
        var devices: [ClientDevice] = []
        var lives: [Task<Void, any Error>] = []
        for name in ["phone", "laptop"] {
            let device = try await ClientDevice(name, simulation, server)
            let random = simulation.forkRandom()
            devices.append(device)
            lives.append(simulation.start { try await device.live(until: evening, random) })
        }
        await simulation.advance(by: outage.lowerBound)
        server.outage = SimulatedRejection(503, code: "57P03", message: "starting up")
        await simulation.advance(by: outage.upperBound - outage.lowerBound)
        server.outage = nil
        await simulation.advance(by: end - outage.upperBound)
        for life in lives { try await life.value }
        return try await report(simulation, server, devices)
    }

    private static func report(
        _ simulation: Simulation, _ server: SimulatedServer, _ devices: [ClientDevice]
    ) async throws -> String {
        let note: Comment = "seed \(simulation.seed)"
        let wanted = server.rows(of: "tasks").compactMap {
            try? RawJSON(validating: Array($0.utf8)).member("title")?.text
        }
        let inserted = server.mutations.filter { $0.operation == .insert }.map(\.key)
        #expect(Set(inserted).count == inserted.count, note)
        #expect(wanted.count == devices.map(\.inserted).reduce(0, +), note)
        var texts: [String] = []
        for device in devices {
            #expect(try await device.client.outboxDepth() == 0, note)
            let status = try await device.status()
            #expect(status.rejectedMutationCount == 0, note)
            let shown = device.watch.emissions.last
            #expect(shown?.refresh == .idle && shown?.isFromCache == false && shown?.hasPendingMutations == false, note)
            #expect(shown?.result?.map { "\"\($0.title)\"" }.sorted() == wanted.sorted(), note)
            #expect(device.scheduler.health().lastError == nil, note)
            let (from, to) = (outage.lowerBound + .seconds(60), outage.upperBound)
            let runs = ClientDevice.busiestMinute(device.runs, from, to)
            #expect(runs <= 20, note)
            let inTheOutage = ClientDevice.busiestMinute(device.requests, from, to)
            #expect(inTheOutage <= 60, note)
            let methods = Dictionary(
                grouping: device.transport.sent.filter { $0.sentAt >= from && $0.sentAt < to }, by: \.request.method
            ).mapValues(\.count).sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            #expect(device.tokens >= 20, note)
            texts.append(
                "\(device.name): \(device.runs.count) runs, at most \(ClientDevice.busiestMinute(device.runs)) in a minute "
                    + "(\(runs) in the outage), \(device.requests.count) requests, at most "
                    + "\(ClientDevice.busiestMinute(device.requests)) (\(inTheOutage); in all of it \(methods))"
                    + ", \(device.tokens) tokens")
            device.scheduler.stop()
            await device.client.close()
        }
        return "seed \(simulation.seed): \(wanted.count) rows; " + texts.joined(separator: "; ")
    }
}

private struct OwnTask: Encodable, Sendable {
    var id: String
    var title: String
    var done: Bool
    var user_id: String
}

/// A real client with its scheduler, a live read, a network that comes and goes, and tokens of an hour.
private final class ClientDevice: Sendable {
    let name: String
    let client: KizunaSyncClient
    let scheduler: KizunaSyncScheduler
    let transport: ScriptedTransport
    let watch: Watch<[TaskRow]>
    private let simulation: Simulation
    private let path: FakePathMonitor
    private let counts: Counts

    private final class Counts: Sendable {
        let tokens = Mutex((made: 0, expiry: Duration.zero))
        let inserted = Mutex(0)
        let runs = Mutex<[Duration]>([])
    }

    init(_ name: String, _ simulation: Simulation, _ server: SimulatedServer) async throws {
        self.name = name
        self.simulation = simulation
        let transport = ScriptedTransport(simulation)
        transport.serve(server)
        let client = try await simulation.makeClient(transport) { configuration in
            configuration.tables = [
                KizunaTable("tasks", columns: ["id": .text, "title": .text, "done": .bool, "user_id": .text])
            ]
        }
        let path = FakePathMonitor()
        let counts = Counts()
        scheduler = KizunaSyncScheduler(
            client: client, pollInterval: 30, pathMonitor: path,
            refreshSession: {
                counts.runs.withLock { $0.append(simulation.elapsed) }
                guard transport.isOnline else { return .failed(SyncError(.connectivity, "no network")) }
                let serial = counts.tokens.withLock { tokens -> Int? in
                    guard simulation.elapsed >= tokens.expiry else { return nil }
                    tokens = (tokens.made + 1, simulation.elapsed + .seconds(3500))
                    return tokens.made
                }
                guard let serial else { return .ready }
                do {
                    try await client.setAccessToken(
                        TestToken.make(
                            userID: "ada", expiresAt: simulation.wallClock.addingTimeInterval(3600),
                            serial: serial * 10 + name.count))
                    return .ready
                } catch {
                    return .failed(error)
                }
            })
        self.transport = transport
        self.client = client
        self.path = path
        self.counts = counts
        watch = Watch(client.from("tasks").selectAsSequence(as: [TaskRow].self), in: simulation)
        scheduler.start()
        path.report(true)
    }

    var inserted: Int { counts.inserted.withLock { $0 } }
    var tokens: Int { counts.tokens.withLock { $0.made } }

    func status() async throws -> KizunaSyncStatus {
        for try await status in client.syncStatus { return status }
        throw CancellationError()
    }

    var runs: [Duration] { counts.runs.withLock { $0 } }
    var requests: [Duration] { transport.sent.map(\.sentAt) }

    /// The most of these instants in any minute between two others.
    static func busiestMinute(_ instants: [Duration], _ from: Duration = .zero, _ to: Duration = .seconds(86_400))
        -> Int
    {
        var most = 0
        var first = 0
        for (index, instant) in instants.enumerated() where instant >= from && instant < to {
            while instants[first] < from || instants[first] <= instant - .seconds(60) { first += 1 }
            most = max(most, index - first + 1)
        }
        return most
    }

    func live(until end: Duration, _ random: SeededRandom) async throws {
        var random = random
        await simulation.advance(by: .seconds(60))
        while simulation.elapsed < end {
            switch random.below(8) {
            case 0: await lose(for: .seconds(2 + random.below(120)))
            case 1:
                for _ in 0..<random.below(12) {
                    await lose(for: .milliseconds(200 + random.below(1500)))
                    await simulation.advance(by: .milliseconds(200 + random.below(2500)))
                }
            default: try await write(&random)
            }
            await simulation.advance(by: .seconds(30 + random.below(400)))
        }
    }

    private func lose(for duration: Duration) async {
        transport.isOnline = false
        path.report(false)
        await simulation.advance(by: duration)
        transport.isOnline = true
        path.report(true)
    }

    private func write(_ random: inout SeededRandom) async throws {
        let count = inserted
        if count < 15 {
            try await client.from("tasks").insert(
                OwnTask(id: "\(name)-\(count)", title: "new", done: false, user_id: "ada"))
            counts.inserted.withLock { $0 += 1 }
        } else {
            for _ in 0...random.below(4) {
                try await client.from("tasks").update(["title": "\(name) \(random.below(1000))"])
                    .eq("id", value: "\(name)-\(random.below(count))").execute()
                await simulation.advance(by: .milliseconds(random.below(3000)))
            }
        }
    }
}
