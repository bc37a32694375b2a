import Foundation
import KizunaCore
import KizunaPostgREST
import KizunaSync
import KizunaSyncTesting

/// A client, its network, its session and a simulated server with a table of tasks, in virtual time.
struct ReadScene: Sendable {
    struct Options: Sendable {
        var initialSession = SessionState.signedOut
        var ownerColumn: String?
        var rows = #"[{"id":"a","title":"one","done":false},{"id":"b","title":"two","done":false}]"#
        var folder: URL?
        var configure: @Sendable (inout KizunaSyncConfiguration) -> Void = { _ in }
    }

    let simulation: Simulation
    var server: SimulatedServer
    let transport: ScriptedTransport
    let session: FakeSession
    let path: FakePath
    let client: KizunaSyncClient

    /// Runs a body in a scene whose requests take 50 ms.
    static func run(
        _ options: Options = Options(), seed: UInt64 = 1, interleaving: Interleaving = .inOrder,
        _ body: @escaping @Sendable (ReadScene) async throws -> Void
    ) throws {
        try Simulation.run(seed: seed, interleaving: interleaving) { simulation in
            try await body(ReadScene(simulation, options))
        }
    }

    init(_ simulation: Simulation, _ options: Options, server previous: SimulatedServer? = nil) async throws {
        self.simulation = simulation
        if let previous {
            server = previous
        } else {
            server = SimulatedServer(simulation, tables: [SimulatedTable("tasks", ownerColumn: options.ownerColumn)])
            server.latency = .milliseconds(50)
            try server.insert(options.rows, into: "tasks")
        }
        transport = ScriptedTransport(simulation)
        transport.serve(server)
        let session = FakeSession(options.initialSession)
        let path = FakePath()
        self.session = session
        self.path = path
        client = try await simulation.makeClient(transport, folder: options.folder) { configuration in
            configuration.session = session
            configuration.networkAvailability = path
            configuration.tables = [
                KizunaTable("tasks", columns: ["id": .text, "title": .text, "done": .bool, "user_id": .text])
            ]
            options.configure(&configuration)
        }
        await simulation.settle()
    }

    /// A live read of all tasks.
    func tasks(_ strategy: SequenceReadStrategy = .cacheFirstThenNetwork) -> QuerySnapshotSequence<[TaskRow]> {
        client.from("tasks").selectAsSequence(as: [TaskRow].self, readStrategy: strategy)
    }

    /// A one-shot read of all tasks.
    func once(_ strategy: ReadStrategy = .networkFirst) -> OneShotRead<[TaskRow]> {
        client.from("tasks").select(as: [TaskRow].self, readStrategy: strategy)
    }

    /// What a one-shot read of all tasks gives, as a line, or the code of the error it throws.
    func outcome(_ strategy: ReadStrategy) async -> String {
        do {
            return try await once(strategy).execute().line
        } catch let error as SyncError {
            return error.code.rawValue
        } catch {
            return "\(type(of: error))"
        }
    }

    /// Has the tasks cached, at 0.05 s when it is the first thing done.
    func warmUp() async throws { _ = try await once(.networkOnly).execute() }

    func watch<Value>(_ sequence: QuerySnapshotSequence<Value>) -> Watch<Value> { Watch(sequence, in: simulation) }

    /// The virtual times at which reads were sent, in seconds.
    var readTimes: [Double] {
        transport.sent.filter { $0.request.method == "GET" }.map { ($0.sentAt.seconds * 1000).rounded() / 1000 }
    }
}
