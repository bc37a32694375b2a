internal import KizunaCore
internal import KizunaPostgREST
internal import KizunaStore
internal import Synchronization

// Requests of queued mutations.

extension QueueRunner {
    /// Persists that mutations may be sent, then sends them.
    func send(_ flight: Int, _ ids: [String], returnsRows: Bool) async {
        do {
            let assumed = state.withLock { $0.machine.assumed(of: flight) }
            switch try await handle.store.beginSend(ids, assuming: assumed) {
            case .noted(let mutations, let until):
                lease.began(until: until)
                await send(flight, mutations, of: ids, returnsRows: returnsRows)
                lease.ended()
            case .heldByOther(let remaining):
                step(.leaseLost(flight: flight, wasSent: false, heldByOther: remaining))
            case .changed(let current):
                let missing = Set(ids).subtracting(current.map(\.id))
                if !missing.isEmpty { step(.withdrawn(missing.sorted())) }
                for mutation in current { step(.rewritten(item(mutation))) }
                step(.leaseLost(flight: flight, wasSent: false, heldByOther: nil))
            }
        } catch {
            log(.warning, "A send could not be persisted, so nothing was sent", error)
            step(.notPersisted(flight: flight, jitter: jitter))
        }
    }

    /// Sends the mutations of a request again, without asking for the rows. That they may be sent is persisted already.
    func resend(_ flight: Int, _ ids: [String]) async {
        let mutations: [QueuedMutation]
        do {
            mutations = try await handle.store.entries(ids)
        } catch {
            log(.warning, "A request could not be repeated without its rows", error)
            return step(.unanswered(flight: flight, mayHaveBeenHandled: false, reason: "storage", jitter: jitter))
        }
        lease.began(until: lease.until)
        await send(flight, mutations, of: ids, returnsRows: false)
        lease.ended()
    }

    private func send(_ flight: Int, _ mutations: [QueuedMutation], of ids: [String], returnsRows: Bool) async {
        guard mutations.count == ids.count, WriteRequest.canShare(mutations) else {
            // Withdrawn or rewritten meanwhile.
            return step(.unanswered(flight: flight, mayHaveBeenHandled: false, reason: "withdrawn", jitter: jitter))
        }
        do {
            let outcome = try await exchange(flight, mutations, returnsRows: returnsRows)
            let now = context.environment.clock.now
            state.withLock { $0.pause.follow(outcome, at: now) }
            await refetchDiscarded(mutations, after: outcome)
            step(.answered(flight: flight, outcome, jitter: jitter))
        } catch let failure as WireFailure {
            await refetchDiscarded(mutations, after: nil)
            step(
                .unanswered(
                    flight: flight, mayHaveBeenHandled: failure.kind == .outcomeUnknown, reason: failure.kind.rawValue,
                    jitter: jitter))
        } catch {
            // Cancelled by the end of this runner. The store says "maybe sent", and the next start goes on from there.
        }
    }

    /// Sends one request. Returns what its response means, and keeps the rows of an accepted one.
    private func exchange(
        _ flight: Int, _ mutations: [QueuedMutation], returnsRows: Bool
    ) async throws -> WriteOutcome {
        let credentials = context.credentials(generation: handle.generation)
        guard credentials.isSettled else { throw WireFailure(.notSent, "no session") }
        // A process that was stopped since the send was persisted may have lost the lease.
        guard lease.isHeld else { throw WireFailure(.notSent, "the lease has run out") }
        let keyColumns = context.schemas[mutations[0].table].keyColumns
        let response = try await context.gateway.write(
            WriteRequest.make(mutations, returningRows: returnsRows), as: credentials, before: lease.until)
        var parsed: FlightResponse?
        if (200..<300).contains(response.status) {
            parsed = FlightResponse(mutations, response, isSilent: !returnsRows, keyColumns)
            guard parsed != nil else { throw WireFailure(.outcomeUnknown, "the response is not one of PostgREST") }
        }
        let outcome = WriteOutcome.judge(
            status: response.status, failure: response.failure,
            retryAfter: RetryAfter.duration(response.headers), parsed: parsed, mutations: mutations,
            returnsRows: returnsRows, keyColumns: keyColumns)
        state.withLock { [parsed] state in
            state.responses[flight] = parsed
            if outcome == .needsSession, case .token(let token) = credentials { state.rejectedToken = token }
        }
        return outcome
    }

    /// Marks cached queries stale when the app discarded one of the mutations while it was in flight and the outcome is not
    /// known: no later request tells what the server did.
    func refetchDiscarded(_ mutations: [QueuedMutation], after outcome: WriteOutcome?) async {
        switch outcome {
        case .delivered, .lookUp, .forbidden: return
        default: break
        }
        do {
            let left = try await handle.store.entries(mutations.map(\.id))
            if left.count < mutations.count { try await handle.store.markTableStale(mutations[0].table) }
        } catch {
            log(.warning, "The cached queries of a discarded mutation could not be marked stale", error)
        }
    }

    /// Persists that a send gave no outcome. Later sends wait for that.
    func recordFailure(_ ids: [String], _ maybeSent: [String: Bool], _ reason: String) {
        let note = AsyncGate()
        let isResting = state.withLock { state in
            state.pendingNotes.append(note)
            return state.machine.isResting
        }
        context.environment.spawn { [self] in
            defer {
                note.open()
                state.withLock { $0.pendingNotes.removeAll { $0 === note } }
            }
            do {
                try await handle.store.sendFailed(
                    ids, maybeSent: maybeSent, error: reason, givingLeaseBack: isResting)
            } catch {
                // The store says "maybe sent", which is the careful reading, so nothing is lost.
                log(.warning, "A failed send could not be persisted", error)
            }
        }
    }
}
