package import KizunaCore
package import KizunaStore
internal import Synchronization

/// Publishes a list of mutations of the open owner store, and updates it with each store change.
package final class MutationFeed<Entry: Sendable, Shown: Sendable>: EngineListener {
    /// Loads the list from the store, in order with the changes of the store.
    package typealias Load = @Sendable (OwnerStore, @escaping @Sendable ([Entry]) -> Void) async throws -> Void
    /// Applies a change to the list. Returns false when the change does not concern it.
    package typealias Follow = @Sendable (inout [Entry], StoreChange) -> Bool

    private struct State {
        /// A handle of an older generation is ignored.
        var generation = 0
        var isOpen = false
        var isLive = false
        var entries: [Entry] = []
    }

    package let channel = LatestValueChannel<[Shown]>()
    private let environment: SyncEnvironment
    private let load: Load
    private let follow: Follow
    private let show: @Sendable (Entry) -> Shown
    private let state = Mutex(State())

    package init(
        environment: SyncEnvironment, load: @escaping Load, follow: @escaping Follow,
        show: @escaping @Sendable (Entry) -> Shown
    ) {
        self.environment = environment
        self.load = load
        self.follow = follow
        self.show = show
    }

    package func storeOpened(_ handle: OwnerStoreHandle) {
        let isNew = state.withLock { state in
            let isNewer = handle.generation > state.generation
            guard isNewer || (handle.generation == state.generation && !state.isOpen) else { return false }
            state = State(generation: handle.generation, isOpen: true)
            return true
        }
        guard isNew else { return }
        environment.spawn { [self] in
            do {
                try await load(handle.store) { [self] entries in
                    put { state in
                        guard state.generation == handle.generation else { return false }
                        state.isLive = true
                        state.entries = entries
                        return true
                    }
                }
            } catch {
                // The store of a previous owner is closed while it loads; the store of the next owner is loaded then.
                guard state.withLock({ $0.generation == handle.generation }) else { return }
                channel.finish(.failure(error))
            }
        }
    }

    /// Removes the mutations of the previous owner.
    package func ownerChanged(generation: Int) {
        put { state in
            guard generation > state.generation else { return false }
            state = State(generation: generation)
            return true
        }
    }

    package func storeChanged(_ change: StoreChange, generation: Int) {
        put { state in
            state.isLive && state.generation == generation && follow(&state.entries, change)
        }
    }

    package func end() { channel.finish() }

    /// The channel is written under the lock, so that the lists keep the order of the changes.
    private func put(_ edit: (inout State) -> Bool) {
        state.withLock { state in
            if edit(&state) { channel.put(state.entries.map(show)) }
        }
    }
}

/// The pending mutations of one table.
package typealias PendingFeed = MutationFeed<QueuedMutation, PendingMutation>

extension PendingFeed {
    package convenience init(table: TableID, keyColumns: [String], environment: SyncEnvironment) {
        self.init(
            environment: environment,
            load: { store, deliver in try await store.deliverPending(of: table, deliver) },
            follow: { entries, change in
                guard change.queueTables.contains(table) else { return false }
                let ended = Set(change.ended.map(\.id))
                if !ended.isEmpty { entries.removeAll { ended.contains($0.id) } }
                let updated = Dictionary(
                    (change.updated + change.rewritten).map { ($0.id, $0) }, uniquingKeysWith: { $1 })
                if !updated.isEmpty { entries = entries.map { updated[$0.id] ?? $0 } }
                entries += change.queued.filter { $0.table == table }
                return true
            }, show: { PendingMutation($0, keyColumns: keyColumns) })
    }
}

/// The rejected mutations of all tables.
package typealias RejectionFeed = MutationFeed<RejectedEntry, RejectedMutation>

extension RejectionFeed {
    package convenience init(environment: SyncEnvironment) {
        self.init(
            environment: environment,
            load: { store, deliver in try await store.deliverRejected(deliver) },
            follow: { rejected, change in
                guard !change.rejected.isEmpty || !change.unrejected.isEmpty else { return false }
                let gone = Set(change.unrejected)
                rejected.removeAll { gone.contains($0.entry.id) }
                rejected += change.rejected
                return true
            }, show: { RejectedMutation($0) })
    }
}
