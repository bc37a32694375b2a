import Foundation
import KizunaSync

// The sample of the README, in a function that gives it its surroundings.

private enum ReadmeSamples {
    struct TaskRow: Decodable, Sendable {
        var title: String
    }

    struct NewTask: Encodable, Sendable {
        var title: String
    }

    static func render(_ tasks: [TaskRow]?, _ refresh: RefreshState, _ hasPendingMutations: Bool) {}

    static func sample(projectURL: URL, key: String, folder: URL, auth: KizunaAuth) async throws {
        let client = KizunaSyncClient()
        try await client.create(.init(url: projectURL, publishableKey: key, dataDirectory: folder, session: auth))

        for try await snapshot in client.from("tasks").selectAsSequence(as: [TaskRow].self).eq("done", value: false) {
            render(snapshot.result, snapshot.refresh, snapshot.hasPendingMutations)
        }

        // Durable when it returns.
        let receipt = try await client.from("tasks").insert(NewTask(title: "works on a plane"))
        // Optional: wait for the server.
        let rows = try await receipt.delivered()
        _ = rows
    }
}
