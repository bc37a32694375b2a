import TestSupport
import Foundation
import KizunaCore
import KizunaStore
import Synchronization

let tasks = TableID(name: "tasks")

/// A store file and vaults that are opened on it, with what they published.
final class StoreScene: Sendable {
    let folder: ScratchFolder
    let logicalClock = LogicalClock()
    private let published = Mutex<[StoreChange]>([])

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
    var changes: [StoreChange] { published.withLock { $0 } }

    func open(
        owner: String = "user:a", busyTimeout: Duration = .zero,
        mayShow: @escaping @Sendable (CachedQueryMetadata, TableID) -> Bool = { _, _ in false }
    ) throws -> OwnerStore {
        try OwnerStore(
            file: StoreFile(path: path, busyTimeout: busyTimeout), owner: owner, logicalClock: logicalClock,
            now: day(1), mayShow: mayShow
        ) { [weak self] change in self?.published.withLock { $0.append(change) } }
    }

    /// A tick as a request takes it before it leaves.
    func ask() -> LogicalTime { logicalClock.next() }

    func response(
        _ rows: String, to cacheKey: String = "all", select: String = "*", at logicalTime: LogicalTime? = nil
    ) throws -> CachedQueryResponse {
        let body = Array(rows.utf8)
        return CachedQueryResponse(
            cacheKey: cacheKey, table: tasks, parameters: [.init(name: "select", value: select)], body: body,
            rows: try JSONArraySplitter(keyColumns: ["id"]).rows(of: body), askedAt: logicalTime ?? ask(),
            fetchedAt: day(2))
    }
}

/// The nth day of a year far from any clock's reading.
func day(_ number: Double) -> Date { Date(timeIntervalSince1970: number * 86_400) }

func json(_ text: String) throws -> RawJSON { try RawJSON(validating: Array(text.utf8)) }

func insertion(_ key: String, id: String? = nil) throws -> QueuedMutation {
    QueuedMutation(
        id: id ?? "insert-\(key)", table: tasks, operation: .insert(row: try json(#"{"id":"\#(key)","title":"new"}"#)),
        rowKeys: [RowKey(text: key)], createdAt: day(3))
}

func update(_ key: String, id: String? = nil) throws -> QueuedMutation {
    QueuedMutation(
        id: id ?? "update-\(key)", table: tasks,
        operation: .update(
            patch: try json(#"{"title":"changed"}"#), filters: [.init(name: "id", value: "eq.\(key)")]),
        rowKeys: [RowKey(text: key)], createdAt: day(3))
}

func rejection(_ entry: QueuedMutation) throws -> RejectedEntry {
    RejectedEntry(
        entry: entry,
        failure: ServerFailure(status: 409, code: "23505", message: "duplicate", details: "Key", hint: "none"),
        serverRow: try json(#"{"id":"x"}"#), rejectedAt: day(4))
}

/// Everything a vault holds, as one text that can be compared.
func fingerprint(_ store: OwnerStore) async throws -> String {
    var lines: [String] = []
    for entry in try await store.pendingEntries() { lines.append("queued \(entry)") }
    for rejected in try await store.rejectedEntries() { lines.append("refused \(rejected.entry) \(rejected.failure)") }
    for key in ["all", "open"] {
        guard let list = try await store.list(cacheKey: key, usedAt: day(5)) else { continue }
        lines.append("list \(key) stale \(list.head.isStale) complete \(list.head.isComplete) \(list.head.fetchedAt)")
        lines += list.rows.map { "  \($0.slot) \($0.key?.text ?? "-") \($0.json.text)" }
    }
    return lines.joined(separator: "\n")
}

func texts(_ list: CachedQuery?) -> [String]? { list?.rows.map(\.json.text) }
