import TestSupport
import KizunaCore
import KizunaStore
import Synchronization

/// One store file and the processes that have it open, each with an owner store and the changes it received.
final class SharedScene: Sendable {
    /// A process with its own owner store.
    final class Process: Sendable {
        let store: OwnerStore
        let signal: FakeSignal
        let logicalClock: LogicalClock
        private let told: SharedBox<[StoreChange]>
        /// How often the process asked the system not to suspend it, and how often it ended that.
        let awake = SharedBox((asked: 0, ended: 0))

        init(_ scene: SharedScene, number: Int32, shown: Set<String>) throws {
            let told = SharedBox<[StoreChange]>([])
            let logicalClock = LogicalClock()
            let signal = FakeSignal()
            self.logicalClock = logicalClock
            self.signal = signal
            self.told = told
            store = try OwnerStore(
                file: StoreFile(path: scene.path, busyTimeout: .seconds(5)), owner: "user:a",
                logicalClock: logicalClock, now: day(1),
                sharing: StoreSharing(
                    host: scene.host(number), signal: signal,
                    stayAwake: { [awake] in
                        awake.value.withLock { $0.asked += 1 }
                        return { awake.value.withLock { $0.ended += 1 } }
                    }, shownLists: { shown })
            ) { change in told.value.withLock { $0.append(change) } }
        }

        /// All changes, oldest first.
        var changes: [StoreChange] { told.value.withLock { $0 } }
        /// The changes of other processes.
        var news: [StoreChange] { changes.filter(\.isOthers) }

        /// Reads the external changes and returns them.
        func look() async throws -> StoreChange? {
            let before = news.count
            try await store.catchUp()
            return news.count > before ? news.last : nil
        }
    }

    let folder: ScratchFolder
    private let now = Mutex(Duration.seconds(1_000))
    private let running = Mutex<Set<Int32>>([1, 2, 3])

    init() throws { folder = try ScratchFolder() }

    var path: String { folder.path + "/vaults/store.sqlite" }

    func process(_ number: Int32, shown: Set<String> = ["all"]) throws -> Process {
        try Process(self, number: number, shown: shown)
    }

    /// Two processes on the file.
    func pair() throws -> (Process, Process) { (try process(1), try process(2)) }

    func advance(by duration: Duration) { now.withLock { $0 += duration } }

    func kill(_ number: Int32) { running.withLock { _ = $0.remove(number) } }

    func host(_ number: Int32) -> HostProcess {
        HostProcess(
            number: number, run: UInt64(number), isRunning: { [self] other in running.withLock { $0.contains(other) } },
            sinceBoot: { [self] in now.withLock { $0 } })
    }

    func response(_ rows: String, asked: Duration? = nil, at logicalTime: LogicalTime, to key: String = "all") throws
        -> CachedQueryResponse
    {
        let body = Array(rows.utf8)
        return CachedQueryResponse(
            cacheKey: key, table: tasks, parameters: [.init(name: "select", value: "*")], body: body,
            rows: try JSONArraySplitter(keyColumns: ["id"]).rows(of: body), askedAt: logicalTime,
            askedSinceBoot: asked ?? now.withLock { $0 }, fetchedAt: day(2))
    }
}

/// A shared value that can change.
final class SharedBox<Value: Sendable>: Sendable {
    let value: Mutex<Value>
    init(_ value: Value) { self.value = Mutex(value) }
}

/// Counts its notifications.
final class FakeSignal: ChangeSignal {
    private let count = Mutex(0)
    var tellings: Int { count.withLock { $0 } }
    func start(heard: @escaping @Sendable () -> Void) {}
    func tell() { count.withLock { $0 += 1 } }
    func stop() {}
}

extension SendNote {
    /// The state as one word.
    var word: String {
        switch self {
        case .noted: "noted"
        case .heldByOther(let remaining): "elsewhere \(Int(remaining.seconds))"
        case .changed: "changed"
        }
    }
}
