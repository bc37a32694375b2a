internal import KizunaCore

// What responses mean for the mutations of a request.

extension QueueMachine {
    mutating func answered(
        _ number: Int, _ outcome: WriteOutcome, _ jitter: Double
    ) {
        guard let flight = flights[number], flight.outcome == nil else { return }
        switch outcome {
        case .delivered:
            failures = 0
            if !flight.returnsRows, let id = flight.ids.first, let table = tracked[id]?.item.table {
                writeOnlyTables.insert(table)
            }
            settle(number, .commitDelivered(flight: number, ids: flight.ids))
        case .partly(let done):
            failures = 0
            partly(number, flight, done)
        case .forbidden:
            // Perhaps only the returned rows are forbidden.
            flights[number]?.returnsRows = false
            effects.append(.resend(flight: number, ids: flight.ids))
        case .lookUp(let purpose): startLookUp(number, purpose)
        case .unavailable(let retryAfter, let mayHaveBeenHandled):
            release(number, mayHaveBeenHandled: mayHaveBeenHandled, reason: "unavailable")
            backOff(retryAfter, jitter)
        case .needsSession:
            release(number, mayHaveBeenHandled: false, reason: "needs session")
            isSessionReady = false
            if !hasAskedSession {
                hasAskedSession = true
                effects.append(.requestSession)
            }
        case .unsettled(let failure):
            failures = 0
            unsettled(number, flight, failure, jitter)
        case .duplicate(let failure) where mayBeOurOwn(flight):
            startLookUp(number, .duplicate(failure))
        case .missingReference where isBehindOthers(flight.ids):
            failures = 0
            for id in flight.ids { tracked[id]?.isStrict = true }
            release(number, mayHaveBeenHandled: false, reason: "waits for the rows it refers to")
        case .matchedNothing where wasSentBefore(flight):
            // The row may be as the earlier send left it, so that the conditions do not hold any more.
            failures = 0
            settle(number, .commitDelivered(flight: number, ids: flight.ids))
        case .duplicate(let failure), .missingReference(let failure), .tooLarge(let failure),
            .matchedNothing(let failure), .rejected(let failure):
            failures = 0
            if case .tooLarge = outcome { keepBelow(flight.ids) }
            rejected(number, flight, failure)
        }
    }

    /// A request of one write is refused for good; one of several is cut in halves until the guilty one stands alone.
    mutating func rejected(
        _ number: Int, _ flight: Flight, _ failure: ServerFailure
    ) {
        guard flight.ids.count > 1 else {
            let id = flight.ids[0]
            let rejection = Effect.commitRejected(flight: number, id: id, dependants: dependants(of: id), failure)
            return settle(number, rejection)
        }
        halve(flight.ids)
        release(number, mayHaveBeenHandled: false, reason: "shared request refused")
    }

    mutating func unsettled(
        _ number: Int, _ flight: Flight, _ failure: ServerFailure, _ jitter: Double
    ) {
        for id in flight.ids { tracked[id]?.unsettled += 1 }
        let most = flight.ids.compactMap { tracked[$0]?.unsettled }.max() ?? 0
        guard most < Self.unsettledLimit else {
            for id in flight.ids where flight.ids.count > 1 { tracked[id]?.unsettled = 0 }
            return rejected(number, flight, failure)
        }
        // A fault with an error code of the database's own was rolled back.
        let mayHaveBeenHandled = failure.status >= 500 && failure.code == nil
        release(
            number, mayHaveBeenHandled: mayHaveBeenHandled, reason: failure.code ?? "HTTP \(failure.status)")
        for id in flight.ids {
            tracked[id]?.state = .parked
            // Where something in between spoke, such as the login page of a network, it may be gone in a minute.
            let step = failure.status < 500 && most > 1 ? most + 2 : most
            startTimer(.item(id), RetrySchedule.refresh.wait(afterFailure: step).jittered(jitter))
        }
    }

    /// Those that did their work are done; of each other one the server is asked for a verdict of its own.
    mutating func partly(
        _ number: Int, _ flight: Flight, _ done: Set<String>
    ) {
        let rest = flight.ids.filter { !done.contains($0) }
        for id in rest {
            tracked[id]?.batchLimit = 1
            tracked[id]?.state = .waiting
            tracked[id]?.item.maybeSent = flight.before[id] ?? false
        }
        if !rest.isEmpty {
            effects.append(
                .recordFailure(
                    ids: rest,
                    maybeSent: Dictionary(uniqueKeysWithValues: rest.map { ($0, flight.before[$0] ?? false) }),
                    reason: "touched no row"))
        }
        let delivered = flight.ids.filter { done.contains($0) }
        guard !delivered.isEmpty else {
            flights[number] = nil
            return
        }
        flights[number]?.ids = delivered
        settle(number, .commitDelivered(flight: number, ids: delivered))
    }

    /// A write that may have been handled and names no row to ask for: sending it again could do it twice.
    mutating func giveUp(_ id: String) {
        lastID += 1
        flights[lastID] = Flight(ids: [id], before: [id: true])
        let rejection = Effect.commitRejected(
            flight: lastID, id: id, dependants: dependants(of: id), .outcomeUnknown)
        settle(lastID, rejection)
    }

    /// The verdict is on disk. What came to depend on a refused write while it was being written down goes with it.
    mutating func committed(_ number: Int) {
        guard flights[number]?.outcome != nil, let ended = flights.removeValue(forKey: number) else { return }
        let gone = endedIDs(ended)
        defer { queued(ended.requeued) }
        guard case .commitRejected(_, let id, _, let failure) = ended.outcome else { return remove(gone) }
        let late = dependants(of: id).filter { !gone.contains($0) }
        remove(gone)
        guard !late.isEmpty else { return }
        lastID += 1
        flights[lastID] = Flight(ids: late, before: maybeSent(late))
        settle(lastID, .commitRejected(flight: lastID, id: id, dependants: late, failure))
    }

    mutating func settle(_ number: Int, _ outcome: Effect) {
        flights[number]?.outcome = outcome
        for id in flights[number]?.ids ?? [] { tracked[id]?.state = .settling(number) }
        effects.append(outcome)
    }

    /// Puts a flight's items back in line.
    mutating func release(
        _ number: Int, mayHaveBeenHandled: Bool, reason: String
    ) {
        guard let flight = flights.removeValue(forKey: number) else { return }
        var known: [String: Bool] = [:]
        for id in flight.ids {
            let maybeSent = mayHaveBeenHandled || (flight.before[id] ?? false)
            known[id] = maybeSent
            tracked[id]?.item.maybeSent = maybeSent
            tracked[id]?.state = .waiting
        }
        effects.append(.recordFailure(ids: flight.ids, maybeSent: known, reason: reason))
    }

    /// Puts a flight's items back in line without a word of it.
    mutating func takeBack(_ number: Int, wasSent: Bool) {
        guard let flight = flights.removeValue(forKey: number) else { return }
        for (id, maybeSent) in flight.before {
            switch tracked[id]?.state {
            case .sending(number), .lookingUp(number), .settling(number):
                tracked[id]?.state = .waiting
                tracked[id]?.item.maybeSent = maybeSent || wasSent
            default: break
            }
        }
    }

    /// Later requests stay below half of what the server called too large.
    mutating func keepBelow(_ ids: [String]) {
        let bytes = ids.reduce(0) { $0 + (tracked[$1]?.item.bytes ?? 0) }
        limits.batchBytes = min(limits.batchBytes, max(bytes / 2, Limits.leastBatchBytes))
    }

    mutating func halve(_ ids: [String]) {
        let limit = max(1, (ids.count + 1) / 2)
        for id in ids { tracked[id]?.batchLimit = limit }
    }

    /// Whether a flight is out and has no verdict yet.
    func isUndecided(_ number: Int) -> Bool {
        flights[number].map { $0.outcome == nil } ?? false
    }

    func wasSentBefore(_ flight: Flight) -> Bool { flight.before.values.allSatisfy { $0 } }

    func mayBeOurOwn(_ flight: Flight) -> Bool {
        flight.ids.contains { flight.before[$0] == true || tracked[$0]?.item.hasGeneratedKey == true }
    }

    func isBehindOthers(_ ids: [String]) -> Bool {
        order.first.map { !ids.contains($0) } ?? false
    }

    /// What cannot succeed once this write is refused: later writes of a row it was to make, and the rest of its group.
    func dependants(of id: String) -> [String] {
        guard let rejected = tracked[id]?.item, let at = order.position(of: id) else { return [] }
        var lost = rejected.creates
        var found: [String] = []
        for position in (at + 1)..<max(at + 1, order.end) {
            guard let later = order[position], let item = tracked[later]?.item else { continue }
            let isOfGroup = rejected.group != nil && item.group == rejected.group
            let isOfRow = item.table == rejected.table && !item.needs.isEmpty && item.needs.isSubset(of: lost)
            guard isOfGroup || isOfRow else {
                // It makes the row anew, so what follows needs this one instead.
                if item.table == rejected.table { lost.subtract(item.creates) }
                continue
            }
            found.append(later)
            lost.formUnion(item.creates)
        }
        return found
    }

    func endedIDs(_ flight: Flight) -> [String] {
        switch flight.outcome {
        case .commitDelivered(_, let ids): ids
        case .commitRejected(_, let id, let dependants, _): [id] + dependants
        default: []
        }
    }

    mutating func remove(_ ids: [String]) {
        let gone = Set(ids)
        guard !gone.isEmpty else { return }
        order.remove(gone)
        for id in gone { tracked[id] = nil }
    }
}
