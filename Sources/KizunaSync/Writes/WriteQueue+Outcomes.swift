internal import KizunaCore
internal import KizunaStore

extension WriteQueue {
    /// Waits for the outcomes of mutations, also of a previous run of the app. Returns the rows of all of them.
    package func outcomes(of ids: [String], table: String) async throws -> [RawJSON] {
        let handle = try await owners.handle()
        var waiters: [(id: String, channel: LatestValueChannel<MutationOutcomes.Outcome>)] = []
        defer { for waiter in waiters { outcomes.leave(waiter.channel, for: waiter.id) } }
        // All waiters are registered before the first wait: the last mutation may be delivered first, and the store does not
        // keep every delivery.
        for id in try await handle.store.outcomeIDs(of: ids) { waiters.append((id, try outcomes.waiter(for: id))) }
        for (waiter, fate) in zip(waiters, try await fates(of: waiters.map(\.id), in: handle)) {
            if let outcome = outcome(fate, in: handle, table: table) { waiter.channel.put(outcome) }
        }
        var rows: [RawJSON] = []
        for waiter in waiters {
            guard let outcome = try await waiter.channel.next() else {
                throw SyncError(.closed, "The client was closed before the mutation had an outcome.", table: table)
            }
            rows += try outcome.get()
        }
        return rows
    }

    /// Returns the outcome in the store; nil while the mutation is pending. Call it after the waiter is registered, so that no
    /// outcome is missed.
    private func outcome(_ fate: WriteFate, in handle: OwnerStoreHandle, table: String) -> MutationOutcomes.Outcome? {
        switch fate {
        case .pending:
            // A later change of owner ends the wait. An earlier one does not, so it is checked here.
            return owners.openHandle?.generation == handle.generation ? nil : .withdrawn(Self.leftBehind)
        case .delivered(let rows): return .delivered(rows)
        case .rejected(let rejected): return .rejected(SyncError(rejection: rejected.failure, table: table))
        case .unknown:
            return .withdrawn(
                SyncError(
                    .unknownMutation, "No mutation of this id is pending, and no outcome of it is kept.", table: table))
        }
    }

    private func fates(of ids: [String], in handle: OwnerStoreHandle) async throws -> [WriteFate] {
        do {
            return try await handle.store.fates(of: ids)
        } catch {
            let isLeftBehind = error.code == .closed && !owners.isClosed
            throw isLeftBehind ? Self.leftBehind : error
        }
    }

    /// The end of a wait for a mutation of a previous owner.
    static var leftBehind: SyncError {
        SyncError(.discarded, "The owner changed; the pending mutation stays in the store of the previous owner.")
    }
}
