internal import KizunaCore
internal import KizunaStore

extension WriteQueue {
    /// Waits for the verdicts on writes, whenever they were queued, and gives the rows of all of them.
    package func outcomes(of ids: [String], table: String) async throws -> [RawJSON] {
        let handle = try await owners.handle()
        var places: [(id: String, channel: LatestValueChannel<MutationOutcomes.Outcome>)] = []
        defer { for place in places { outcomes.leave(place.channel, for: place.id) } }
        // A place for each before the first is waited for: of many writes the last may have its verdict long before, and the
        // store does not keep all of them.
        for id in try await handle.store.outcomeIDs(of: ids) { places.append((id, try outcomes.waiter(for: id))) }
        for (place, fate) in zip(places, try await fates(of: places.map(\.id), in: handle)) {
            if let outcome = outcome(fate, in: handle, table: table) { place.channel.put(outcome) }
        }
        var rows: [RawJSON] = []
        for place in places {
            guard let outcome = try await place.channel.next() else {
                throw SyncError(.closed, "The client was closed before the server gave a verdict.", table: table)
            }
            rows += try outcome.get()
        }
        return rows
    }

    /// The verdict that is in the store; nil while the write waits. Ask when the place to wait is there, so that a verdict from
    /// now on is not missed.
    private func outcome(_ fate: WriteFate, in handle: OwnerStoreHandle, table: String) -> MutationOutcomes.Outcome? {
        switch fate {
        case .pending:
            // A change of owner from now on ends the wait; one from before has passed it by.
            return owners.openHandle?.generation == handle.generation ? nil : .withdrawn(Self.leftBehind)
        case .delivered(let rows): return .delivered(rows)
        case .rejected(let rejected): return .rejected(SyncError(rejection: rejected.failure, table: table))
        case .unknown:
            return .withdrawn(
                SyncError(
                    .unknownMutation, "No write of this id waits here, and no verdict on it is kept.", table: table))
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
        SyncError(.discarded, "The owner changed; what waits is in the former user's store.")
    }
}
