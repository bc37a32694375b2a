import KizunaSync

// The samples of docs/writing.md, in functions that give them their surroundings. `DocSampleTests` checks that each block
// of the page stands here.

private enum WritingSamples {
    struct NewTask: Encodable, Sendable {
        var title: String
        var listID: String?
    }

    struct NewList: Encodable, Sendable {
        var name: String
    }

    struct Setting: Encodable, Sendable {
        var key: String
        var value: String
    }

    struct TaskRow: Decodable, Sendable {
        var title: String
    }

    static func write(_ client: KizunaSyncClient, id: String) async throws {
        let receipt = try await client.from("tasks").insert(NewTask(title: "water plants"))
        try await client.from("tasks").insert([NewTask(title: "call Ada"), NewTask(title: "pay rent")])
        try await client.from("tasks").upsert(Setting(key: "theme", value: "dark"), onConflict: "key")
        try await client.from("tasks").update(["done": true]).eq("id", value: id).execute()
        try await client.from("tasks").delete().eq("id", value: id).execute()

        do {
            let rows = try await receipt.delivered().decode(as: TaskRow.self)
            print("the server has", rows.map(\.title))
        } catch let error as SyncError where error.code == .rejected {
            print("rejected:", error.server?.code ?? "?", error.server?.constraint ?? "")
        }

        try await client.write { tx in
            let list = try tx.insert(NewList(name: "garden"), into: "lists")
            try tx.insert(NewTask(title: "water plants", listID: list[0]), into: "tasks")
        }
    }

    static func repair(_ client: KizunaSyncClient) async throws {
        for try await rejected in client.rejectedMutations {
            for rejection in rejected where rejection.dependsOn == nil {
                switch rejection.failure.code {
                case "23514": try await client.edit(rejection.id, ["title": "untitled"])
                case "23505": try await client.takeTheirs(rejection.id)
                case "42501": try await client.discard(rejection.id)
                default: break  // show it, and let the user retry
                }
            }
        }
    }

    static func mark(_ client: KizunaSyncClient) async throws {
        for try await snapshot in client.from("tasks").selectAsSequence(as: [TaskRow].self) {
            for (task, row) in zip(snapshot.result ?? [], snapshot.rowStates) {
                print(task.title, row.state == .pending ? "…" : "")
            }
        }
    }
}
