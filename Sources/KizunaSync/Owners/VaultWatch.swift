internal import KizunaCore
internal import KizunaStore
internal import Synchronization

/// Has a vault look at what other processes committed, each time a signal is heard.
final class VaultWatch: Sendable {
    private let vault: WeakVault
    private let environment: SyncEnvironment
    /// Whether somebody is on the way to look; whatever is told until it begins is seen by it.
    private let isComing = Atomic(false)

    init(_ vault: Vault, _ environment: SyncEnvironment) {
        self.vault = WeakVault(vault)
        self.environment = environment
    }

    func start(_ signal: any ChangeSignal) {
        signal.start { [self] in heard() }
        // What was committed before anybody listened.
        heard()
    }

    private func heard() {
        guard !isComing.exchange(true, ordering: .sequentiallyConsistent) else { return }
        environment.spawn { [self] in
            isComing.store(false, ordering: .sequentiallyConsistent)
            guard let vault = vault.vault else { return }
            do throws(SyncError) {
                try await vault.catchUp()
            } catch {
                // The next transaction or signal looks again.
                guard error.code != .closed else { return }
                environment.log.log(
                    LogLine(
                        .warning, "What another process changed could not be read",
                        ["kizuna.error": error.code.rawValue]))
            }
        }
    }
}

/// The signal must not keep a vault.
private final class WeakVault: Sendable {
    private struct Box { weak var vault: Vault? }
    private let box: Mutex<Box>

    init(_ vault: Vault) { box = Mutex(Box(vault: vault)) }

    var vault: Vault? { box.withLock { $0.vault } }
}
