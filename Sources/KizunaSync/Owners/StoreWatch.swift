internal import KizunaCore
internal import KizunaStore
internal import Synchronization

/// Makes a store read the changes that other processes committed, at each signal.
final class StoreWatch: Sendable {
    private let store: WeakStore
    private let environment: SyncEnvironment
    /// Whether a read is scheduled; it covers all signals until it starts.
    private let isComing = Atomic(false)

    init(_ store: OwnerStore, _ environment: SyncEnvironment) {
        self.store = WeakStore(store)
        self.environment = environment
    }

    func start(_ signal: any ChangeSignal) {
        signal.start { [self] in heard() }
        // Covers commits from before the first signal.
        heard()
    }

    private func heard() {
        guard !isComing.exchange(true, ordering: .sequentiallyConsistent) else { return }
        environment.spawn { [self] in
            isComing.store(false, ordering: .sequentiallyConsistent)
            guard let store = store.store else { return }
            do throws(SyncError) {
                try await store.catchUp()
            } catch {
                // The next transaction or signal repeats the read.
                guard error.code != .closed else { return }
                environment.log.log(
                    LogLine(
                        .warning, "What another process changed could not be read",
                        [.error: error.code.rawValue]))
            }
        }
    }
}

/// The signal must not retain a store.
private final class WeakStore: Sendable {
    private struct Box { weak var store: OwnerStore? }
    private let box: Mutex<Box>

    init(_ store: OwnerStore) { box = Mutex(Box(store: store)) }

    var store: OwnerStore? { box.withLock { $0.store } }
}
