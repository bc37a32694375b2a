package import KizunaCore
package import KizunaStore
internal import Synchronization

/// The waiting writes of one table, followed change by change.
package final class PendingFeed: Sendable {
    private struct State {
        /// Handles of an older generation come too late.
        var generation = 0
        var isOpen = false
        var isLive = false
        var entries: [QueueEntry] = []
    }

    package let mailbox = LatestMailbox<[PendingMutation]>()
    private let table: TableID
    private let state = Mutex(State())

    package init(table: TableID) { self.table = table }

    package func vaultOpened(_ handle: VaultHandle, in environment: SyncEnvironment) {
        let isNew = state.withLock { state in
            guard handle.generation > state.generation || (handle.generation == state.generation && !state.isOpen)
            else {
                return false
            }
            state = State(generation: handle.generation, isOpen: true)
            return true
        }
        guard isNew else { return }
        environment.spawn { [self] in
            do {
                try await handle.vault.deliverPending(of: table) { entries in
                    put { state in
                        guard state.generation == handle.generation else { return false }
                        state.isLive = true
                        state.entries = entries
                        return true
                    }
                }
            } catch {
                mailbox.finish(.failure(error))
            }
        }
    }

    /// The owner changed: the former one's writes are shown no more.
    package func ownerChanged(generation: Int) {
        put { state in
            guard generation > state.generation else { return false }
            state = State(generation: generation)
            return true
        }
    }

    package func vaultChanged(_ change: VaultChange, generation: Int) {
        guard change.queueTables.contains(table) else { return }
        put { state in
            guard state.isLive, state.generation == generation else { return false }
            let ended = Set(change.ended.map(\.id))
            if !ended.isEmpty { state.entries.removeAll { ended.contains($0.id) } }
            let updated = Dictionary((change.updated + change.rewritten).map { ($0.id, $0) }, uniquingKeysWith: { $1 })
            if !updated.isEmpty { state.entries = state.entries.map { updated[$0.id] ?? $0 } }
            state.entries += change.queued.filter { $0.table == table }
            return true
        }
    }

    package func end() { mailbox.finish() }

    /// The mailbox is filled under the lock, so that values keep the order of the changes.
    private func put(_ edit: (inout State) -> Bool) {
        state.withLock { state in
            if edit(&state) { mailbox.put(state.entries.map(PendingMutation.init)) }
        }
    }
}

/// The refused writes, followed change by change.
package final class RefusalFeed: Sendable {
    private struct State {
        /// Handles of an older generation come too late.
        var generation = 0
        var isOpen = false
        var isLive = false
        var refused: [RefusedEntry] = []
    }

    package let mailbox = LatestMailbox<[RejectedMutation]>()
    private let state = Mutex(State())

    package init() {}

    package func vaultOpened(_ handle: VaultHandle, in environment: SyncEnvironment) {
        let isNew = state.withLock { state in
            guard handle.generation > state.generation || (handle.generation == state.generation && !state.isOpen)
            else {
                return false
            }
            state = State(generation: handle.generation, isOpen: true)
            return true
        }
        guard isNew else { return }
        environment.spawn { [self] in
            do {
                try await handle.vault.deliverRefused { refused in
                    put { state in
                        guard state.generation == handle.generation else { return false }
                        state.isLive = true
                        state.refused = refused
                        return true
                    }
                }
            } catch {
                mailbox.finish(.failure(error))
            }
        }
    }

    /// The owner changed: the former one's writes are shown no more.
    package func ownerChanged(generation: Int) {
        put { state in
            guard generation > state.generation else { return false }
            state = State(generation: generation)
            return true
        }
    }

    package func vaultChanged(_ change: VaultChange, generation: Int) {
        guard !change.refused.isEmpty || !change.unrefused.isEmpty else { return }
        put { state in
            guard state.isLive, state.generation == generation else { return false }
            let gone = Set(change.unrefused)
            state.refused.removeAll { gone.contains($0.entry.id) }
            state.refused += change.refused
            return true
        }
    }

    package func end() { mailbox.finish() }

    private func put(_ edit: (inout State) -> Bool) {
        state.withLock { state in
            if edit(&state) { mailbox.put(state.refused.map(RejectedMutation.init)) }
        }
    }
}
