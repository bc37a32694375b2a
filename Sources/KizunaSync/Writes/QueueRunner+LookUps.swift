internal import KizunaCore
internal import KizunaPostgREST
internal import KizunaStore
internal import Synchronization

// Reading the rows of mutations whose response does not tell their outcome.

extension QueueRunner {
    func lookUp(_ flight: Int, _ ids: [String], _ purpose: QueueMachine.LookUp) async {
        do {
            let mutations = try await handle.store.entries(ids)
            guard let first = mutations.first else {
                // The app discarded them, or another process delivered them.
                return step(.leaseLost(flight: flight, wasSent: true, heldByOther: nil))
            }
            let found: QueueMachine.LookUpResult
            switch purpose {
            case .duplicate(let failure): found = try await lookUpDuplicates(flight, mutations, failure)
            case .deletedRows(let done, _):
                found = try await lookUpDeletes(flight, mutations.filter { ids.count == 1 || !done.contains($0.id) })
            case .movedRow: found = try await lookUpMovedRow(flight, first)
            }
            step(.lookedUp(flight: flight, found, jitter: jitter))
        } catch {
            if let token = (error as? Gateway.ReadFailure)?.rejectedToken { context.tokenRejected(token) }
            guard !(error is CancellationError) else { return }
            step(.lookedUp(flight: flight, .failed, jitter: jitter))
        }
    }

    /// Which rows of inserts the server has already, made by this queue.
    private func lookUpDuplicates(
        _ flight: Int, _ mutations: [QueuedMutation], _ failure: ServerFailure
    ) async throws -> QueueMachine.LookUpResult {
        let table = mutations[0].table
        let schema = context.schemas[table]
        let rows = try await lookup.rows(madeBy: mutations, schema)
        var present: [String: RawJSON?] = [:]
        for mutation in mutations {
            guard let key = mutation.rowKeys.first else { continue }
            guard let row = rows[key] else {
                // The row may be written and not be read. Nobody else can have made a row of a client-generated key.
                let onlyTable = mutations.count == 1 ? table.name : nil
                if mutation.hasGeneratedKey, failure.isAbout(key, schema.keyColumns, tableOfTheOnlyRow: onlyTable) {
                    present.updateValue(nil, forKey: mutation.id)
                }
                continue
            }
            if mutation.isAuthor(of: row) { present[mutation.id] = row }
        }
        state.withLock { [present] in $0.responses[flight] = FlightResponse(present: present, of: mutations) }
        return .present(Set(present.keys))
    }

    /// Which deletes' rows are still there.
    private func lookUpDeletes(
        _ flight: Int, _ mutations: [QueuedMutation]
    ) async throws -> QueueMachine.LookUpResult {
        guard let left = try await lookup.keysLeft(by: mutations) else { return .notToBeTold }
        let remaining = mutations.filter { !$0.rowKeys.allSatisfy { !left.contains($0) } }
        let gone = mutations.flatMap(\.rowKeys).filter { !left.contains($0) }
        state.withLock { $0.responses[flight]?.add(gone: gone) }
        return .remaining(Set(remaining.map(\.id)))
    }

    /// Whether there is a row under the key that an update gave its row.
    private func lookUpMovedRow(
        _ flight: Int, _ mutation: QueuedMutation
    ) async throws -> QueueMachine.LookUpResult {
        let schema = context.schemas[mutation.table]
        guard case .moves(let moves) = mutation.keyChange(keyColumns: schema.keyColumns), let move = moves.first,
            let request = TableRequest.movedRow(of: mutation, keyColumns: schema.keyColumns)
        else { return .notToBeTold }
        guard let row = try await lookup.row(of: request, schema) else { return .movedRow(isThere: false) }
        state.withLock { $0.responses[flight]?.moved(mutation.id, row, from: move.key, to: move.value) }
        return .movedRow(isThere: true)
    }
}
