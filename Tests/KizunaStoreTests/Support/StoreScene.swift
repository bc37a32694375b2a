import TestSupport
import Foundation
import KizunaCore
import KizunaStore
import Synchronization

let tasks = TableID(name: "tasks")

/// A store file and vaults that are opened on it, with what they published.
final class StoreScene: Sendable {
    let folder: ScratchFolder
    let ticks = TickSource()
    private let published = Mutex<[VaultChange]>([])

    init() throws { folder = try ScratchFolder() }

    /// A scene of its own that begins with what this one's file holds.
    func copy() throws -> StoreScene {
        let scene = try StoreScene()
        try FileManager.default.createDirectory(
            atPath: scene.folder.path + "/vaults", withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: path, toPath: scene.path)
        return scene
    }

    var path: String { folder.path + "/vaults/store.sqlite" }
    var changes: [VaultChange] { published.withLock { $0 } }

    func open(
        owner: String = "user:a", patience: Duration = .zero,
        mayShow: @escaping @Sendable (ListHead, TableID) -> Bool = { _, _ in false }
    ) throws -> Vault {
        try Vault(
            file: VaultFile(path: path, patience: patience), owner: owner, ticks: ticks, now: day(1), mayShow: mayShow
        ) { [weak self] change in self?.published.withLock { $0.append(change) } }
    }

    /// A tick as a request takes it before it leaves.
    func ask() -> Tick { ticks.next() }

    func answer(
        _ rows: String, to cacheKey: String = "all", select: String = "*", at tick: Tick? = nil
    ) throws -> ListAnswer {
        let body = Array(rows.utf8)
        return ListAnswer(
            cacheKey: cacheKey, table: tasks, parameters: [.init(name: "select", value: select)], body: body,
            rows: try RowCutter(keyColumns: ["id"]).rows(of: body), askedAt: tick ?? ask(), fetchedAt: day(2))
    }
}

/// The nth day of a year far from any clock's reading.
func day(_ number: Double) -> Date { Date(timeIntervalSince1970: number * 86_400) }

func json(_ text: String) throws -> RawJSON { try RawJSON(validating: Array(text.utf8)) }

func insertion(_ key: String, id: String? = nil) throws -> QueueEntry {
    QueueEntry(
        id: id ?? "insert-\(key)", table: tasks, operation: .insert(row: try json(#"{"id":"\#(key)","title":"new"}"#)),
        rowKeys: [RowKey(text: key)], createdAt: day(3))
}

func update(_ key: String, id: String? = nil) throws -> QueueEntry {
    QueueEntry(
        id: id ?? "update-\(key)", table: tasks,
        operation: .update(
            patch: try json(#"{"title":"changed"}"#), filters: [.init(name: "id", value: "eq.\(key)")]),
        rowKeys: [RowKey(text: key)], createdAt: day(3))
}

func refusal(_ entry: QueueEntry) throws -> RefusedEntry {
    RefusedEntry(
        entry: entry,
        failure: ServerFailure(status: 409, code: "23505", message: "duplicate", details: "Key", hint: "none"),
        serverRow: try json(#"{"id":"x"}"#), refusedAt: day(4))
}

/// Everything a vault holds, as one text that can be compared.
func fingerprint(_ vault: Vault) async throws -> String {
    var lines: [String] = []
    for entry in try await vault.pendingEntries() { lines.append("queued \(entry)") }
    for refused in try await vault.refusedEntries() { lines.append("refused \(refused.entry) \(refused.failure)") }
    for key in ["all", "open"] {
        guard let list = try await vault.list(cacheKey: key, usedAt: day(5)) else { continue }
        lines.append("list \(key) stale \(list.head.isStale) complete \(list.head.isComplete) \(list.head.fetchedAt)")
        lines += list.rows.map { "  \($0.slot) \($0.key?.text ?? "-") \($0.json.text)" }
    }
    return lines.joined(separator: "\n")
}

func texts(_ list: StoredList?) -> [String]? { list?.rows.map(\.json.text) }
