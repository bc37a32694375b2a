internal import KizunaCore
internal import KizunaPostgREST
internal import KizunaStore
internal import Synchronization

// Persisting outcomes.

extension QueueRunner {
    func commitDelivered(_ flight: Int, _ ids: [String]) async {
        do {
            guard let response = state.withLock({ $0.responses[flight] }) else {
                preconditionFailure("QueueRunner: commitDelivered without a response")
            }
            let effect = response.effect
            // Also for mutations that were discarded meanwhile: the server did them, and what was fetched since may not show
            // it.
            try await handle.store.settle(
                ids, table: response.table, rows: response.byID, told: effect.told, keys: effect.keys
            ) { [schemas = context.schemas] metadata, present in
                effect.edit(of: schemas.shape(of: metadata), present: present)
            }
            finish(flight)
        } catch {
            log(.error, "An accepted mutation could not be persisted as delivered; it is tried again", error)
            step(.commitFailed(flight: flight, jitter: jitter))
        }
    }

    func commitRejected(_ flight: Int, _ id: String, _ dependants: [String], _ failure: ServerFailure) async {
        do {
            let mutations = try await handle.store.entries([id] + dependants)
            let now = context.environment.wallClock()
            let serverRow = await serverRow(of: mutations.first { $0.id == id })
            let rejections = mutations.map { mutation in
                RejectedEntry(
                    entry: mutation, failure: failure, dependsOn: mutation.id == id ? nil : id,
                    serverRow: mutation.id == id ? serverRow : nil, rejectedAt: now)
            }
            let wasNotSent = failure.code == ServerFailure.outcomeUnknownCode
            switch try await handle.store.reject(rejections, mayClaim: wasNotSent) {
            case .other(let remaining): step(.leaseLost(flight: flight, wasSent: true, heldByOther: remaining))
            case .nobodyElse: step(.leaseLost(flight: flight, wasSent: true, heldByOther: nil))
            case nil: finish(flight)
            }
        } catch {
            log(.error, "A rejection could not be persisted; it is tried again", error)
            step(.commitFailed(flight: flight, jitter: jitter))
        }
    }

    private func finish(_ flight: Int) {
        step(.committed(flight: flight))
        state.withLock { $0.responses[flight] = nil }
    }

    /// The server's row under the key of a rejected mutation, so that the app can show both; nil when it cannot be read now.
    private func serverRow(of mutation: QueuedMutation?) async -> RawJSON? {
        guard let mutation else { return nil }
        let schema = context.schemas[mutation.table]
        guard let request = TableRequest.row(of: mutation, keyColumns: schema.keyColumns) else { return nil }
        do {
            return try await lookup.row(of: request, schema)
        } catch {
            return nil
        }
    }
}
