import Foundation
import KizunaCore
import KizunaStore
import KizunaSync
import KizunaSyncTesting
import Synchronization

/// A row that says whose it is.
struct OwnedRow: Codable, Sendable, Equatable {
    var id: String
    var title: String
    var user_id: String
}

/// What is inserted: the key is made by the client.
struct NewOwnedRow: Codable, Sendable {
    var title: String
    var user_id: String
}

/// A server whose table `items` shows each user that user's rows alone, a client with stores on disk, and a network that
/// watches under whose name it sends.
final class OwnerScene: Sendable {
    static let users = ["alice", "bruno", "clara"]

    let simulation: Simulation
    let server: SimulatedServer
    let network: OwnerNetwork
    let folder: URL

    init(_ simulation: Simulation, folder: URL) throws {
        self.simulation = simulation
        self.folder = folder
        server = SimulatedServer(
            simulation,
            tables: [
                SimulatedTable(
                    "items", columns: ["id": .uuid, "title": .text, "user_id": .text], ownerColumn: "user_id")
            ])
        network = OwnerNetwork(server)
        for (index, user) in Self.users.enumerated() {
            try server.insert(
                #"{"id":"0190aaaa-0000-7000-8000-00000000000\#(index)","title":"server row of \#(user)","user_id":"\#(user)"}"#,
                into: "items")
        }
    }

    /// A scene in a folder of its own under virtual time, with a client and those under whose names requests may leave.
    static func run(
        allowing allowed: Set<String?> = ["alice", "bruno", nil],
        _ body: @escaping @Sendable (OwnerScene, KizunaSyncClient) async throws -> Void
    ) throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let scene = try OwnerScene(simulation, folder: folder)
                scene.network.allowed = allowed
                try await body(scene, try await scene.client())
            }
        }
    }

    func client(configure: (inout KizunaSyncConfiguration) -> Void = { _ in }) async throws -> KizunaSyncClient {
        try await simulation.makeClient(network, folder: folder) { configuration in
            configuration.tables = [KizunaTable("items", columns: ["id": .uuid, "title": .text, "user_id": .text])]
            configure(&configuration)
        }
    }

    /// A client whose session the test sets.
    func client(
        session: FakeSession, configure: (inout KizunaSyncConfiguration) -> Void = { _ in }
    ) async throws -> KizunaSyncClient {
        try await client { configuration in
            configuration.session = session
            configure(&configuration)
        }
    }

    /// Signs a user in. Requests of the former user may leave until `settled`.
    func signIn(_ user: String, on client: KizunaSyncClient, serial: Int = 0) async throws {
        network.allowed = network.allowed.union([user])
        try await client.setAccessToken(TestToken.make(userID: user, serial: serial))
    }

    func signOut(on client: KizunaSyncClient) async throws {
        network.allowed = network.allowed.union([nil])
        try await client.signOut()
    }

    func insert(_ title: String, as user: String, on client: KizunaSyncClient) async throws -> WriteReceipt {
        try await client.from("items").insert(NewOwnedRow(title: title, user_id: user))
    }

    /// The titles the server holds of a user.
    func titles(of user: String) -> [String] {
        server.rows(of: "items").compactMap { text in
            guard let row = try? RawJSON(validating: Array(text.utf8)), row.member("user_id")?.stringValue == user
            else { return nil }
            return row.member("title")?.stringValue
        }
    }

    // MARK: - What is on the disk

    private var directory: OwnerDirectory {
        OwnerDirectory(dataDirectory: folder.path, projectURL: "https://project.example")
    }

    /// Where an owner's store is.
    func path(of owner: OwnerID) -> String? { directory.file(of: owner).path }

    /// The bytes of an owner's store, its write-ahead log included.
    func bytes(of owner: OwnerID) throws -> [UInt8] {
        guard let path = directory.file(of: owner).path else { return [] }
        return try ["", "-wal"].flatMap { suffix -> [UInt8] in
            guard FileManager.default.fileExists(atPath: path + suffix) else { return [] }
            return Array(try Data(contentsOf: URL(fileURLWithPath: path + suffix)))
        }
    }

    /// Whether a text stands in an owner's store.
    func holds(_ text: String, of owner: OwnerID) throws -> Bool { try bytes(of: owner).contains(text: text) }

    static func status(of client: KizunaSyncClient) throws -> KizunaSyncStatus {
        let engine = try client.engine()
        return engine.status.value
    }

    /// The names of users that stand in the store of another owner.
    func strangers() throws -> [String] {
        try (Self.users.map { OwnerID.user($0) } + [.nobody]).flatMap { owner -> [String] in
            let bytes = try bytes(of: owner)
            return Self.users.filter { OwnerID.user($0) != owner && bytes.contains(text: $0) }.map {
                "\($0) in the store of \(owner.userID ?? "nobody")"
            }
        }
    }
}

extension [UInt8] {
    /// Whether the text's bytes stand somewhere in these.
    func contains(text: String) -> Bool {
        Data(self).range(of: Data(text.utf8)) != nil
    }
}

/// Follows a live read of `items` and keeps each emission.
final class OwnerWatch: Sendable {
    private struct State {
        var shown: [QuerySnapshot<[OwnedRow]>] = []
        /// Whose rows may be shown now.
        var allowed: Set<String>?
        var faults: [String] = []
        var end: (any Error)?
        var hasEnded = false
    }

    private let state = Mutex(State())

    /// Begins to follow.
    init(_ client: KizunaSyncClient, in simulation: Simulation, strategy: SequenceReadStrategy = .cacheFirstThenNetwork)
    {
        simulation.start { [self] in
            do {
                for try await snapshot in client.from("items").selectAsSequence(
                    as: [OwnedRow].self, readStrategy: strategy)
                {
                    take(snapshot)
                }
                state.withLock { $0.hasEnded = true }
            } catch {
                state.withLock { state in
                    state.end = error
                    state.hasEnded = true
                }
            }
        }
    }

    private func take(_ snapshot: QuerySnapshot<[OwnedRow]>) {
        state.withLock { state in
            state.shown.append(snapshot)
            let owners = Set((snapshot.result ?? []).map(\.user_id))
            if owners.count > 1 { state.faults.append("one emission shows rows of \(owners.sorted())") }
            if let allowed = state.allowed, !owners.isSubset(of: allowed) {
                state.faults.append("rows of \(owners.sorted()) shown to \(allowed.sorted())")
            }
        }
    }

    /// Whose rows may be shown from now on; nil for a moment in which the owner changes.
    func allow(_ users: Set<String>?) { state.withLock { $0.allowed = users } }

    var shown: [QuerySnapshot<[OwnedRow]>] { state.withLock { $0.shown } }
    var last: QuerySnapshot<[OwnedRow]>? { shown.last }
    var lastTitles: [String]? { last?.result?.map(\.title) }
    var hasShownNoRow: Bool { shown.allSatisfy { $0.result?.isEmpty ?? true } }
    /// The titles of each emission that shows rows, repetitions left out.
    var titles: [[String]?] {
        var titles: [[String]?] = []
        for snapshot in shown {
            let next = snapshot.result.map { $0.map(\.title) }
            if titles.last != .some(next) { titles.append(next) }
        }
        return titles
    }
    var faults: [String] { state.withLock { $0.faults } }
    var error: SyncError? { state.withLock { $0.end as? SyncError } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }
}
