internal import KizunaCore
internal import KizunaSync

/// One write of a job: its kind, the row's key, and a title without spaces.
enum WorkerStep: Sendable {
    static let table = "notes"

    case insert(id: String, title: String)
    /// The key is made on the device.
    case generateKey(title: String)
    case upsert(id: String, title: String)
    case update(id: String, title: String)
    case delete(id: String)
    /// No write: so many milliseconds pass.
    case wait(Int)

    init?(line: Substring) {
        let words = line.split(separator: " ").map(String.init)
        switch (words.first, words.count) {
        case ("insert", 3): self = .insert(id: words[1], title: words[2])
        case ("mint", 2): self = .generateKey(title: words[1])
        case ("upsert", 3): self = .upsert(id: words[1], title: words[2])
        case ("update", 3): self = .update(id: words[1], title: words[2])
        case ("wait", 2): self = .wait(Int(words[1]) ?? 0)
        case ("delete", 2): self = .delete(id: words[1])
        default: return nil
        }
    }

    /// Queues the write; durable when this returns. Answers with the keys of its rows, none for a pause.
    func perform(with client: KizunaSyncClient) async throws -> [String] {
        let notes = client.from(Self.table)
        switch self {
        case .insert(let id, let title): return try await notes.insert(["id": id, "title": title]).rowIDs
        case .generateKey(let title): return try await notes.insert(["title": title]).rowIDs
        case .upsert(let id, let title): return try await notes.upsert(["id": id, "title": title]).rowIDs
        case .update(let id, let title):
            return try await notes.update(["title": title]).eq("id", value: id).execute().rowIDs
        case .wait(let time):
            try await SyncEnvironment.live().sleep(.milliseconds(time))
            return []
        case .delete(let id): return try await notes.delete().eq("id", value: id).execute().rowIDs
        }
    }
}
