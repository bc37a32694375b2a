import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization

/// Several processes on one machine with one store folder, and the server they all write to.
struct ProcessWorld: Sendable {
    struct App: Sendable {
        let client: KizunaSyncClient
        let process: SimulatedProcess
        let network: ScriptedTransport
    }

    let simulation: Simulation
    let machine: SimulatedHost
    let world: WriteWorld
    let folder: URL

    /// Runs a body in a world whose requests take 50 ms.
    static func run(
        seed: UInt64 = 1, interleaving: Interleaving = .inOrder,
        _ body: @escaping @Sendable (ProcessWorld) async throws -> Void
    ) throws {
        try withTemporaryFolder { folder in
            try Simulation.run(seed: seed, interleaving: interleaving) { simulation in
                let world = WriteWorld(simulation)
                world.server.latency = .milliseconds(50)
                try await body(
                    ProcessWorld(
                        simulation: simulation, machine: SimulatedHost(simulation), world: world, folder: folder))
            }
        }
    }

    /// Starts a process with a client in it, whose network is its own.
    func start(configure: (inout KizunaSyncConfiguration) -> Void = { _ in }) async throws -> App {
        let process = machine.process()
        let network = ScriptedTransport(simulation)
        network.serve(world.server)
        let client = try await simulation.makeClient(network, folder: folder, process: process) { configuration in
            configuration.tables = [
                KizunaTable("items", columns: ["id": .uuid, "title": .text, "done": .bool]),
                KizunaTable("notes", columns: ["id": .uuid, "item_id": .uuid, "text": .text]),
            ]
            configure(&configuration)
        }
        await simulation.settle()
        return App(client: client, process: process, network: network)
    }

    /// Two processes, such as an app and its extension.
    func pair(configure: (inout KizunaSyncConfiguration) -> Void = { _ in }) async throws -> (App, App) {
        (try await start(configure: configure), try await start(configure: configure))
    }

    func advance(_ milliseconds: Int) async { await simulation.advance(by: .milliseconds(milliseconds)) }
}

extension ProcessWorld.App {
    @discardableResult
    func insert(_ title: String) async throws -> WriteReceipt {
        try await client.from("items").insert(NewItem(title: title))
    }

    /// A live read of all items.
    func items(
        _ strategy: SequenceReadStrategy = .cacheFirstThenNetwork
    ) -> QuerySnapshotSequence<[Item]> {
        client.from("items").selectAsSequence(as: [Item].self, readStrategy: strategy)
    }

    /// The virtual times at which writes were sent, in milliseconds.
    var sentAt: [Int] {
        network.sent.filter { $0.request.method != "GET" }.map { Int(($0.sentAt.seconds * 1_000).rounded()) }
    }

    var writeCount: Int { sentAt.count }
}

extension Watch where Value == [Item] {
    var titles: [String]? { emissions.last?.result.map { $0.map(\.title) } }
}

/// Iterates a feed in a task of its own and keeps the newest.
final class StateWatch<Element: Sendable>: Sendable {
    private let newest = Mutex<Element?>(nil)

    init(_ sequence: KizunaStateSequence<Element>, in simulation: Simulation) {
        simulation.start { [self] in
            for try await element in sequence { newest.withLock { $0 = element } }
        }
    }

    var last: Element? { newest.withLock { $0 } }
}
