import KizunaPostgREST
import KizunaSync

// The samples of docs/reading.md. They are compiled, and a test holds each block of the page against this file.

private struct Task: Decodable, Sendable {
    var id: String
    var title: String
}

private func show(_ tasks: [Task]) async {}

private func liveRead(_ client: KizunaSyncClient) async throws {
    for try await snapshot in client.from("tasks")
        .selectAsSequence(as: [Task].self)
        .eq("done", value: false)
        .order("created_at", ascending: false)
    {
        await show(snapshot.result ?? [])
    }
}

private func body(of snapshot: QuerySnapshot<[Task]>) -> String {
    guard let tasks = snapshot.result else { return "Loading…" }
    return tasks.isEmpty ? "Nothing to do" : tasks.map(\.title).joined(separator: "\n")
}

private func strategies(_ client: KizunaSyncClient) -> [QuerySnapshotSequence<[Task]>] {
    let tasks = client.from("tasks")
    let usual = tasks.selectAsSequence(as: [Task].self)
    let fresh = tasks.selectAsSequence(as: [Task].self, readStrategy: .networkFirstThenCache)
    let stored = tasks.selectAsSequence(as: [Task].self, readStrategy: .cacheOnly)
    return [usual, fresh, stored]
}

private struct Screen {
    let client: KizunaSyncClient

    func pullToRefresh() async throws {
        _ = try await client.from("tasks")
            .select(as: [Task].self, readStrategy: .networkOnly)
            .eq("done", value: false)
            .order("created_at", ascending: false)
            .execute()
    }
}

private func note(for state: RefreshState) -> String? {
    switch state {
    case .idle: nil
    case .refreshing: "Asking the server…"
    case .paused: "Offline"
    case .stalled: "Can’t reach the server. These are saved rows."
    }
}

private func once(_ client: KizunaSyncClient) async throws -> [Task]? {
    let open = try await client.from("tasks")
        .select(as: [Task].self)
        .eq("done", value: false)
        .execute()
    return open.result
}

private func shapes(_ client: KizunaSyncClient, id: String) async throws -> (Task?, String?, Int?) {
    let first = try await client.from("tasks").select(as: Task.self).eq("id", value: id).single().execute()
    let export = try await client.from("tasks").select(as: String.self).csv().execute()
    let head = try await client.from("tasks").select(as: [Task].self).select(head: true, count: .exact).execute()
    return (first.result, export.result, head.count)
}

private func whole(_ configuration: inout KizunaSyncConfiguration) {
    configuration.tables = [KizunaTable("tasks", completeness: .pagesUntilComplete)]
}

private func forget(_ client: KizunaSyncClient) async throws {
    try await client.clearLocalData()
    try await client.clearLocalData(keepingQueue: true)
}

private func declaredColumns(_ configuration: inout KizunaSyncConfiguration) {
    configuration.tables = [
        KizunaTable(
            "tasks", columns: ["done": .bool, "position": .int4, "due": .timestamptz, "tags": .array(of: .text)])
    ]
    configuration.patternEvaluation = .ascii
}
