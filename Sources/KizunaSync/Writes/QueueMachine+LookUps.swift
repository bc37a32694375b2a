internal import KizunaCore

// What a response did not tell, and what reading the rows tells about it.

extension QueueMachine {
    mutating func startLookUp(_ number: Int, _ purpose: LookUp) {
        guard let flight = flights[number] else { return }
        flights[number]?.lookUp = purpose
        for id in flight.ids { tracked[id]?.state = .lookingUp(number) }
        effects.append(.lookUp(flight: number, ids: flight.ids, purpose))
    }

    mutating func lookedUp(_ number: Int, _ found: LookUpResult, _ jitter: Double) {
        guard let flight = flights[number], let purpose = flight.lookUp, flight.outcome == nil else { return }
        flights[number]?.lookUp = nil
        switch purpose {
        case .duplicate(let failure): lookedUp(number, flight, duplicate: failure, found, jitter)
        case .deletedRows(let done, let failure): lookedUp(number, flight, deleted: done, failure, found, jitter)
        case .movedRow(let failure):
            let outcome: WriteOutcome =
                found == .movedRow(isThere: false) ? .rejected(failure) : .matchedNothing(failure)
            answered(number, outcome, jitter)
        }
    }

    private mutating func lookedUp(
        _ number: Int, _ flight: Flight, duplicate failure: ServerFailure, _ found: LookUpResult, _ jitter: Double
    ) {
        guard case .present(let present) = found else {
            release(number, mayHaveBeenHandled: true, reason: "not verified")
            return backOff(nil, jitter)
        }
        let delivered = flight.ids.filter { present.contains($0) }
        let absent = flight.ids.filter { !present.contains($0) }
        guard !delivered.isEmpty else { return rejected(number, flight, failure) }
        flights[number]?.ids = delivered
        // An absent row does not prove that an earlier send is not still on its way.
        let before = Dictionary(uniqueKeysWithValues: absent.map { ($0, flight.before[$0] ?? false) })
        for (id, maybeSent) in before {
            tracked[id]?.state = .waiting
            tracked[id]?.item.maybeSent = maybeSent
        }
        if !absent.isEmpty {
            halve(absent)
            effects.append(.recordFailure(ids: absent, maybeSent: before, reason: "not on the server"))
        }
        settle(number, .commitDelivered(flight: number, ids: delivered))
    }

    /// The rows of deletes that did not come back. Rows that are gone are gone, whoever deleted them; a row that is still
    /// there was not deleted: a condition did not hold, or row level security forbids it.
    private mutating func lookedUp(
        _ number: Int, _ flight: Flight, deleted done: Set<String>, _ failure: ServerFailure, _ found: LookUpResult,
        _ jitter: Double
    ) {
        var outcome: WriteOutcome
        switch found {
        case .remaining(let remaining) where flight.ids.count > 1:
            outcome = .partly(done.union(flight.ids.filter { !remaining.contains($0) }))
        case .remaining(let remaining):
            let isRejected = done.isEmpty && !remaining.isDisjoint(with: flight.ids)
            outcome = isRejected ? .rejected(failure) : .delivered
        case .notToBeTold: outcome = flight.ids.count > 1 ? .partly(done) : .delivered
        case .failed where flight.ids.count == 1 && done.isEmpty:
            // A delete may be repeated, and then the rows are looked up again.
            outcome = .unavailable(retryAfter: nil, mayHaveBeenHandled: true)
        case .failed, .present, .movedRow: outcome = flight.ids.count > 1 ? .partly(done) : .delivered
        }
        if case .partly(let done) = outcome, done.isSuperset(of: flight.ids) { outcome = .delivered }
        answered(number, outcome, jitter)
    }
}
