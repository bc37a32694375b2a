internal import KizunaCore
internal import KizunaStore
internal import Synchronization

/// Keeps `syncStatus` and the events of the client in step with the store, the network, the session and the owner.
final class StatusUpdates: EngineListener {
    let status = StateHub(KizunaSyncStatus())
    let events: EventHub
    private let environment: SyncEnvironment
    private let owners: OwnerAccess
    /// The number of pending mutations in the last event.
    private let lastDepth = Mutex(0)

    init(environment: SyncEnvironment, owners: OwnerAccess) {
        self.environment = environment
        self.owners = owners
        events = EventHub(environment: environment)
    }

    func queueChanged(_ state: QueueMachine.QueueState) { status.update { $0.queue = .init(state) } }

    func storeChanged(_ change: StoreChange, generation: Int) {
        status.update { status in
            guard owners.isCurrent(generation) else { return }
            status.pendingMutationCount = change.queueDepth
            status.rejectedMutationCount += change.rejected.count - change.unrejected.count
        }
        var tables = Set(change.queueTables.map(\.name))
        tables.formUnion(change.changedTables.map(\.name))
        if !tables.isEmpty || change.isCleared { events.tell(.localChanged(tables: tables)) }
        tellDepth(change.queueDepth)
        for rejected in change.rejected { events.tell(.mutationRejected(id: rejected.entry.id)) }
    }

    func networkChanged(_ network: NetworkState) {
        status.update { $0.network = !network.isEnabled ? .disabled : network.isPathUp ? .online : .offline }
    }

    func sessionChanged(isSettled: Bool) { status.update { $0.needsSession = !isSettled } }

    func ownerChanged(generation: Int) {
        status.update { status in
            status.pendingMutationCount = 0
            status.rejectedMutationCount = 0
            status.queue = .idle
            status.damage = nil
        }
    }

    func storeOpened(_ handle: OwnerStoreHandle) {
        readCounts(of: handle)
        if handle.generation > 1 { events.tell(.ownerChanged) }
        if let damage = handle.store.damage { events.tell(.storeDamaged(KizunaStoreDamage(damage))) }
    }

    func end() { status.end() }

    /// Takes over the counts of a store that was opened, in order with its changes.
    private func readCounts(of handle: OwnerStoreHandle) {
        environment.spawn { [self] in
            do {
                try await handle.store.deliverCounts { pending, rejected in
                    status.update { status in
                        guard owners.isCurrent(handle.generation) else { return }
                        status.pendingMutationCount = pending
                        status.rejectedMutationCount = rejected
                        status.damage = handle.store.damage.map { KizunaStoreDamage($0) }
                    }
                    if owners.isCurrent(handle.generation) { tellDepth(pending) }
                }
            } catch {
                // The queue and the reads report a store that cannot be read; a closed one has no counts.
                guard (error as? SyncError)?.code != .closed else { return }
                environment.log.log(LogLine(.warning, "The counts of the store could not be read"))
            }
        }
    }

    /// Tells how many mutations are pending when the number has changed.
    private func tellDepth(_ depth: Int) {
        let isNew = lastDepth.withLock { last in
            defer { last = depth }
            return last != depth
        }
        if isNew { events.tell(.queueDepth(depth)) }
    }
}
