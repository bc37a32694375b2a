import Foundation
import KizunaCore
import KizunaPostgREST
import KizunaSync
import KizunaSyncTesting
import Testing

/// A row of the table `items`.
struct Item: Codable, Sendable, Equatable {
    var id: String
    var title: String
    var done: Bool = false
}

/// A row of the table `items` without a key.
struct NewItem: Codable, Sendable {
    var title: String
    var done = false
}

/// A server with the tables `items`, where a title must not be empty, and `notes`, behind a scripted transport.
struct WriteWorld {
    let simulation: Simulation
    let server: SimulatedServer
    let network: ScriptedTransport

    init(_ simulation: Simulation) {
        self.simulation = simulation
        let items = SimulatedTable(
            "items", columns: ["id": .uuid, "title": .text, "done": .bool],
            check: { row in
                row["title"] == "" ? .checkViolation(table: "items", constraint: "title_not_empty") : nil
            })
        let notes = SimulatedTable(
            "notes", columns: ["id": .uuid, "item_id": .uuid, "text": .text], references: ["item_id": "items"])
        server = SimulatedServer(simulation, tables: [items, notes])
        network = ScriptedTransport(simulation)
        network.serve(server)
    }

    /// Writes a transaction of three inserts: the second is rejected, and the third is parked with it.
    func rejectedTransaction(_ client: KizunaSyncClient) async throws -> WriteReceipt {
        let receipt = try await client.write { tx in
            try tx.insert(NewItem(title: "first"), into: "items")
            try tx.insert(NewItem(title: ""), into: "items")
            try tx.insert(NewItem(title: "third"), into: "items")
        }
        await #expect(throws: SyncError.self) { try await receipt.delivered() }
        return receipt
    }

    func client(
        folder: URL? = nil, configure: (inout KizunaSyncConfiguration) -> Void = { _ in }
    ) async throws -> KizunaSyncClient {
        try await simulation.makeClient(network, folder: folder) { configuration in
            configuration.tables = [
                KizunaTable("items", columns: ["id": .uuid, "title": .text, "done": .bool]),
                KizunaTable("notes", columns: ["id": .uuid, "item_id": .uuid, "text": .text]),
            ]
            configure(&configuration)
        }
    }

    /// The titles on the server, in the order of their inserts.
    var titles: [String] {
        server.rows(of: "items").compactMap { text in
            (try? RawJSON(validating: Array(text.utf8)))?.member("title")?.stringValue
        }
    }

    /// Returns the first element of a sequence.
    static func first<Element: Sendable>(_ sequence: KizunaStateSequence<Element>) async throws -> Element? {
        for try await element in sequence { return element }
        return nil
    }
}
