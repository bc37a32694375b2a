import TestSupport
import Foundation
import KizunaCore
import KizunaLocal
import KizunaSync
import Synchronization

/// One app on one device: a client with a store of its own on a real backend.
final class Device: Sendable {
    let client = KizunaSyncClient()
    let store: ScratchFolder
    let log = KeptLog()

    init(
        _ backend: LocalBackend, user: String? = nil, store: ScratchFolder? = nil, url: String? = nil,
        configure: (inout KizunaSyncConfiguration) -> Void = { _ in }
    ) async throws {
        self.store = try store ?? ScratchFolder()
        guard let url = URL(string: url ?? backend.url) else { throw CocoaError(.coderInvalidValue) }
        var configuration = KizunaSyncConfiguration(
            url: url, publishableKey: backend.anonKey, dataDirectory: self.store.url, log: log,
            requestTimeout: .seconds(5))
        configure(&configuration)
        try await client.create(configuration)
        if let user { try await client.setAccessToken(backend.token(subject: user)) }
    }

    var notes: OfflineTable { client.from("notes") }

    /// The notes as the device now fetches them.
    func pull() async throws -> [Note] {
        try await notes.select(as: [Note].self, readStrategy: .networkOnly).order("id").execute().result ?? []
    }

    /// The notes as the device shows them without the network.
    func shown() async throws -> [Note] {
        try await notes.select(as: [Note].self, readStrategy: .cacheOnly).order("id").execute().result ?? []
    }

    /// Waits until nothing waits to be sent.
    func untilDelivered() async throws {
        for try await pending in client.pendingMutations(table: "notes") where pending.isEmpty { return }
    }

    func rejected() async throws -> [RejectedMutation] {
        for try await rejected in client.rejectedMutations { return rejected }
        return []
    }
}

struct Note: Codable, Sendable, Equatable {
    var id: String
    var title: String
}

final class KeptLog: LogSink {
    private let kept = Mutex<[LogLine]>([])
    var text: String { kept.withLock { $0.map { "\($0.message) \($0.metadata)" }.joined(separator: "\n") } }
    func log(_ line: LogLine) { kept.withLock { $0.append(line) } }
}

enum Users {
    static let ada = "00000000-0000-4000-8000-00000000ada0"
    static let bob = "00000000-0000-4000-8000-00000000b0b0"
}

enum Schemas {
    static let notes = "CREATE TABLE notes (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), title text NOT NULL);"
    /// Rows of one user, which no other sees or changes.
    static let ownNotes = """
        CREATE TABLE notes (
            id uuid PRIMARY KEY, title text NOT NULL CONSTRAINT title_not_empty CHECK (title <> ''),
            kind text UNIQUE, parent uuid REFERENCES notes, owner uuid NOT NULL DEFAULT auth.uid());
        ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
        CREATE POLICY own ON notes USING (owner = auth.uid()) WITH CHECK (owner = auth.uid());
        """
}
