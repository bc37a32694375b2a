internal import KizunaStore
internal import KizunaCore

/// Decides which queued write is sent when, and what each answer means for it. Pure: events in, effects out.
///
/// States of an item, and where each may go:
/// - `waiting`: → `sending` when nothing earlier touches the same rows and the queue may send.
/// - `sending(flight)`: a request holding it is out, or is being noted as about to leave. → `waiting` (no verdict),
///   `verifying`, `settling`.
/// - `verifying(flight)`: the server is asked whether it has the row already. → `settling`, `waiting`.
/// - `settling(flight)`: the verdict is being written down. → gone, or `settling` again when the disk refuses.
/// - `parked(until)`: this item's own wait. → `waiting`.
///
/// Invariants:
/// - Q1: an item leaves only by a committed verdict or by the app's own hand.
/// - Q2: two items that touch the same thing are never out together, and the earlier goes first.
/// - Q3: after every failure a timer of its own runs; nothing waits for another write to wake it.
/// - Q4: nothing is sent while the network is switched off or the session is not ready.
/// - Q5: a refusal takes along only what depends on it.
/// - Q6: a verdict that cannot be written down is written down later; it is never asked for again blindly.
/// - Q7: nothing is sent while another process sends the queue; a timer of its own looks again.
package struct QueueMachine: Sendable {
    private enum ItemState: Sendable, Equatable {
        case waiting
        case sending(Int)
        case verifying(Int)
        case settling(Int)
        case parked
    }

    private struct Tracked: Sendable {
        var item: QueueItem
        var state = ItemState.waiting
        /// Answers in a row that settled nothing for this item.
        var unsettled = 0
        /// Most items it may share a request with; halves when a shared request is refused.
        var batchLimit = Int.max
        /// Whether it now waits for everything before it: it referred to a row that is not there yet.
        var isStrict = false
    }

    private struct Flight: Sendable {
        var ids: [String]
        var before: [String: Bool]
        var outcome: Effect?
        /// The refusal to fall back on when the server turns out not to have the rows.
        var duplicate: ServerFailure?
        /// Writes of it that the app queued again before their refusal was known to be on disk.
        var requeued: [QueueItem] = []
    }

    private enum TimerUse: Sendable, Equatable {
        case everything
        /// As `everything`, and the server's own wish (`Retry-After`): only the app or the network's return ends it early.
        case asked
        case item(String)
        case commit(Int)
        /// The end of another process's turn.
        case turn
    }

    private var order = QueueOrder()
    /// Kept while nothing but new writes comes, so that one more is looked at alone.
    private var scan: QueueScan?
    private var tracked: [String: Tracked] = [:]
    private var flights: [Int: Flight] = [:]
    private var timers: [Int: TimerUse] = [:]
    private var failures = 0
    private var isPathUp: Bool
    private var isEnabled: Bool
    private var isSessionReady: Bool
    private var hasAskedSession = false
    private var isLeaseHeldByOther = false
    private var hasEnded = false
    private var published = QueueState.idle
    private var lastID = 0
    private var limits: Limits

    private static let unsettledLimit = 5
    private static let blindProbe = Duration.seconds(60)

    package init(isPathUp: Bool, isEnabled: Bool, isSessionReady: Bool, limits: Limits = Limits()) {
        self.isPathUp = isPathUp
        self.isEnabled = isEnabled
        self.isSessionReady = isSessionReady
        self.limits = limits
    }

    package var state: QueueState { published }
    package var depth: Int { order.count }
    package var isNetworkEnabled: Bool { isEnabled }
    /// Whether nothing is on its way.
    package var isResting: Bool { flights.isEmpty }
    /// What was known of an earlier send of each write when it was decided to send this flight.
    package func assumed(of flight: Int) -> [String: Bool] { flights[flight]?.before ?? [:] }
    /// How many items were looked at for the last event.
    package private(set) var stepsOfLastEvent = 0

    package mutating func handle(_ event: Event) -> [Effect] {
        guard !hasEnded else { return [] }
        var effects: [Effect] = []
        if case .queued = event {} else { scan = nil }
        switch event {
        case .queued(let items): queued(items)
        case .rewritten(let item): rewrite(item)
        case .withdrawn(let ids): remove(ids)
        case .answered(let flight, let outcome, let jitter): answered(flight, outcome, jitter, &effects)
        case .unanswered(let flight, let mayHaveBeenHandled, let reason, let jitter):
            guard isUndecided(flight) else { break }
            release(flight, mayHaveBeenHandled: mayHaveBeenHandled, reason: reason, &effects)
            backOff(nil, jitter, &effects)
        case .notPersisted(let flight, let jitter):
            guard isUndecided(flight) else { break }
            for (id, maybeSent) in flights.removeValue(forKey: flight)?.before ?? [:] {
                tracked[id]?.state = .waiting
                tracked[id]?.item.maybeSent = maybeSent
            }
            backOff(nil, jitter, &effects)
        case .leaseLost(let flight, let wasSent, let heldByOther):
            takeBack(flight, wasSent: wasSent)
            if let heldByOther { waitForLease(heldByOther, &effects) }
        case .leaseHeldByOther(let remaining?): waitForLease(remaining, &effects)
        case .leaseHeldByOther(nil):
            isLeaseHeldByOther = false
            cancelTimers(of: .turn, &effects)
        case .verified(let flight, let present): verified(flight, present, &effects)
        case .committed(let flight):
            committed(flight, &effects)
        case .commitFailed(let flight, let jitter):
            guard flights[flight]?.outcome != nil else { break }
            startTimer(.commit(flight), RetrySchedule.refresh.wait(afterFailure: 2).jittered(jitter), &effects)
        case .timerFired(let timer): fired(timer, &effects)
        case .pathChanged(let isUp):
            isPathUp = isUp
            if isUp { wake(&effects) }
        case .networkSwitched(let enabled):
            isEnabled = enabled
            if enabled {
                wake(&effects)
            } else {
                cancelTimers(of: .everything, &effects)
                cancelTimers(of: .asked, &effects)
            }
        case .sessionChanged(let isReady):
            isSessionReady = isReady
            hasAskedSession = false
            if isReady { hurry(&effects) }
        case .hurried:
            // Tried now, but the schedule goes on where it was, since a scheduler asks again and again. And asked for by
            // hand: try even while the monitor says offline.
            let before = failures
            hurry(&effects)
            failures = max(before, isPathUp ? 0 : 1)
        case .woken:
            wake(&effects)
            failures = isPathUp ? 0 : 1
        case .ended:
            hasEnded = true
            return timers.keys.sorted().map { .cancelTimer(timer: $0) }
        }
        startWhatMayStart(&effects)
        publish(&effects)
        return effects
    }
}

// MARK: - Choosing what to send

extension QueueMachine {
    private var isWaitingForAll: Bool { timers.values.contains { $0 == .everything || $0 == .asked } }

    private mutating func startWhatMayStart(_ effects: inout [Effect]) {
        stepsOfLastEvent = 0
        guard isEnabled, isSessionReady, !isWaitingForAll, !isLeaseHeldByOther, !order.isEmpty else { return }
        guard isPathUp || failures > 0 else {
            // The monitor can be wrong: look anyway once in a while.
            if flights.isEmpty { startTimer(.everything, Self.blindProbe, &effects) }
            return
        }
        var at = scan ?? QueueScan(position: order.start)
        scan = nil
        at.steps = 0
        var busy = flights.count
        while busy < limits.flights, at.position < order.end {
            defer { at.position += 1 }
            guard let id = order[at.position], let entry = tracked[id] else { continue }
            at.steps += 1
            let isFree =
                entry.state == .waiting && !(entry.isStrict && at.isAnythingBefore)
                && !at.isInTheWay(of: entry.item.tokens)
            if isFree, entry.item.maybeSent, !entry.item.isRepeatable {
                giveUp(id, &effects)
                at.block(entry.item.tokens)
                busy += 1
            } else if isFree {
                let ids = batch(startingAt: at, entry)
                lastID += 1
                flights[lastID] = Flight(ids: ids, before: maybeSent(ids))
                for member in ids {
                    tracked[member]?.state = .sending(lastID)
                    tracked[member]?.item.maybeSent = true
                    at.block(tracked[member]?.item.tokens ?? [])
                }
                busy += 1
                effects.append(.send(flight: lastID, ids: ids))
            } else {
                at.block(entry.item.tokens)
            }
            at.isAnythingBefore = true
        }
        stepsOfLastEvent = at.steps
        scan = at
    }

    private mutating func queued(_ items: [QueueItem]) {
        for item in items {
            if let known = tracked[item.id] {
                // The app answers a refusal as soon as it is on disk, which may be before that is known here.
                guard known.item.sequence != item.sequence,
                    let flight = flights.first(where: { endedIDs($0.value).contains(item.id) })?.key
                else { continue }
                flights[flight]?.requeued.append(item)
                continue
            }
            // Behind everything accepted before it, which is nearly always everything.
            let isLast = order.insert(item.id) { (tracked[$0]?.item.sequence ?? 0) <= item.sequence }
            tracked[item.id] = Tracked(item: item)
            if !isLast { scan = nil }
        }
    }

    private mutating func rewrite(_ item: QueueItem) {
        tracked[item.id]?.item = item
        // Another process may have sent it too: what this flight's answer means depends on that.
        if case .sending(let flight) = tracked[item.id]?.state { flights[flight]?.before[item.id] = item.maybeSent }
    }

    /// The items that travel with the one the scan has reached: those right behind it of the same kind, until a bound or
    /// a write that is not free.
    private func batch(startingAt scan: QueueScan, _ first: Tracked) -> [String] {
        guard let signature = first.item.signature else { return [first.item.id] }
        var ids = [first.item.id]
        var bytes = first.item.bytes
        var limit = min(limits.batchRows, first.batchLimit, first.item.mostShared)
        // Rows that cannot be named are in nobody's way within one statement: the server refuses one that meets a row twice.
        let table = QueueItem.Token.wholeTable(first.item.table)
        var tokens = first.item.tokens.subtracting([table])
        for position in (scan.position + 1)..<max(scan.position + 1, order.end) {
            guard let id = order[position] else { continue }
            guard let next = tracked[id], next.state == .waiting, !next.isStrict, next.item.signature == signature,
                next.item.table == first.item.table,
                !next.item.tokens.contains(where: { $0 != table && QueueScan.isInTheWay(tokens, of: $0) }),
                next.item.maybeSent == first.item.maybeSent,
                !scan.isInTheWay(of: next.item.tokens)
            else { break }
            limit = min(limit, next.batchLimit)
            bytes += next.item.bytes
            guard ids.count + 1 <= limit, bytes <= limits.batchBytes else { break }
            ids.append(id)
            tokens.formUnion(next.item.tokens.subtracting([table]))
        }
        return ids
    }

    private func maybeSent(_ ids: [String]) -> [String: Bool] {
        Dictionary(uniqueKeysWithValues: ids.map { ($0, tracked[$0]?.item.maybeSent ?? false) })
    }
}

// MARK: - What answers mean

extension QueueMachine {
    private mutating func answered(
        _ number: Int, _ outcome: WriteOutcome, _ jitter: Double, _ effects: inout [Effect]
    ) {
        guard let flight = flights[number], flight.outcome == nil else { return }
        switch outcome {
        case .delivered:
            failures = 0
            settle(number, .commitDelivered(flight: number, ids: flight.ids), &effects)
        case .partly(let done):
            failures = 0
            partly(number, flight, done, &effects)
        case .oneByOne:
            for id in flight.ids { tracked[id]?.batchLimit = 1 }
            release(number, mayHaveBeenHandled: false, reason: "one at a time", &effects)
        case .unavailable(let retryAfter, let mayHaveBeenHandled):
            release(number, mayHaveBeenHandled: mayHaveBeenHandled, reason: "unavailable", &effects)
            backOff(retryAfter, jitter, &effects)
        case .needsSession:
            release(number, mayHaveBeenHandled: false, reason: "needs session", &effects)
            isSessionReady = false
            if !hasAskedSession {
                hasAskedSession = true
                effects.append(.requestSession)
            }
        case .unsettled(let failure):
            failures = 0
            unsettled(number, flight, failure, jitter, &effects)
        case .duplicate(let failure) where mayBeOurOwn(flight):
            flights[number]?.duplicate = failure
            for id in flight.ids { tracked[id]?.state = .verifying(number) }
            effects.append(.verify(flight: number, ids: flight.ids, failure))
        case .missingReference where isBehindOthers(flight.ids):
            failures = 0
            for id in flight.ids { tracked[id]?.isStrict = true }
            release(number, mayHaveBeenHandled: false, reason: "waits for the rows it refers to", &effects)
        case .matchedNothing where flight.before.values.allSatisfy { $0 }:
            // It has been sent before, so the row may be as the write left it, and its conditions hold no more.
            failures = 0
            settle(number, .commitDelivered(flight: number, ids: flight.ids), &effects)
        case .duplicate(let failure), .missingReference(let failure), .tooLarge(let failure),
            .matchedNothing(let failure), .rejected(let failure):
            failures = 0
            if case .tooLarge = outcome { keepBelow(flight.ids) }
            rejected(number, flight, failure, &effects)
        }
    }

    /// A request of one write is refused for good; one of several is cut in halves until the guilty one stands alone.
    private mutating func rejected(
        _ number: Int, _ flight: Flight, _ failure: ServerFailure, _ effects: inout [Effect]
    ) {
        guard flight.ids.count > 1 else {
            let id = flight.ids[0]
            let rejection = Effect.commitRejected(flight: number, id: id, dependants: dependants(of: id), failure)
            return settle(number, rejection, &effects)
        }
        halve(flight.ids)
        release(number, mayHaveBeenHandled: false, reason: "shared request refused", &effects)
    }

    private mutating func unsettled(
        _ number: Int, _ flight: Flight, _ failure: ServerFailure, _ jitter: Double, _ effects: inout [Effect]
    ) {
        for id in flight.ids { tracked[id]?.unsettled += 1 }
        let most = flight.ids.compactMap { tracked[$0]?.unsettled }.max() ?? 0
        guard most < Self.unsettledLimit else {
            for id in flight.ids where flight.ids.count > 1 { tracked[id]?.unsettled = 0 }
            return rejected(number, flight, failure, &effects)
        }
        // A fault with an error code of the database's own was rolled back.
        let mayHaveBeenHandled = failure.status >= 500 && failure.code == nil
        release(
            number, mayHaveBeenHandled: mayHaveBeenHandled, reason: failure.code ?? "HTTP \(failure.status)", &effects)
        for id in flight.ids {
            tracked[id]?.state = .parked
            // Where something in between spoke, such as the login page of a network, it may be gone in a minute.
            let step = failure.status < 500 && most > 1 ? most + 2 : most
            startTimer(.item(id), RetrySchedule.refresh.wait(afterFailure: step).jittered(jitter), &effects)
        }
    }

    /// Those that did their work are done; of each other one the server is asked for a verdict of its own.
    private mutating func partly(
        _ number: Int, _ flight: Flight, _ done: Set<String>, _ effects: inout [Effect]
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
        settle(number, .commitDelivered(flight: number, ids: delivered), &effects)
    }

    private mutating func verified(_ number: Int, _ present: Set<String>, _ effects: inout [Effect]) {
        guard let flight = flights[number], let failure = flight.duplicate, flight.outcome == nil else { return }
        let delivered = flight.ids.filter { present.contains($0) }
        let absent = flight.ids.filter { !present.contains($0) }
        guard !delivered.isEmpty else { return rejected(number, flight, failure, &effects) }
        flights[number]?.ids = delivered
        // That it is not there says nothing of an earlier send that may still be on its way.
        let before = Dictionary(uniqueKeysWithValues: absent.map { ($0, flight.before[$0] ?? false) })
        for (id, maybeSent) in before {
            tracked[id]?.state = .waiting
            tracked[id]?.item.maybeSent = maybeSent
        }
        if !absent.isEmpty {
            halve(absent)
            effects.append(.recordFailure(ids: absent, maybeSent: before, reason: "not on the server"))
        }
        settle(number, .commitDelivered(flight: number, ids: delivered), &effects)
    }

    /// A write that may have been handled and names no row to ask for: sending it again could do it twice.
    private mutating func giveUp(_ id: String, _ effects: inout [Effect]) {
        lastID += 1
        flights[lastID] = Flight(ids: [id], before: [id: true])
        let rejection = Effect.commitRejected(
            flight: lastID, id: id, dependants: dependants(of: id), .outcomeUnknown)
        settle(lastID, rejection, &effects)
    }

    /// The verdict is on disk. What came to depend on a refused write while it was being written down goes with it.
    private mutating func committed(_ number: Int, _ effects: inout [Effect]) {
        guard flights[number]?.outcome != nil, let ended = flights.removeValue(forKey: number) else { return }
        let gone = endedIDs(ended)
        defer { queued(ended.requeued) }
        guard case .commitRejected(_, let id, _, let failure) = ended.outcome else { return remove(gone) }
        let late = dependants(of: id).filter { !gone.contains($0) }
        remove(gone)
        guard !late.isEmpty else { return }
        lastID += 1
        flights[lastID] = Flight(ids: late, before: maybeSent(late))
        settle(lastID, .commitRejected(flight: lastID, id: id, dependants: late, failure), &effects)
    }

    private mutating func settle(_ number: Int, _ outcome: Effect, _ effects: inout [Effect]) {
        flights[number]?.outcome = outcome
        for id in flights[number]?.ids ?? [] { tracked[id]?.state = .settling(number) }
        effects.append(outcome)
    }

    /// Puts a flight's items back in line.
    private mutating func release(
        _ number: Int, mayHaveBeenHandled: Bool, reason: String, _ effects: inout [Effect]
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
    private mutating func takeBack(_ number: Int, wasSent: Bool) {
        guard let flight = flights.removeValue(forKey: number) else { return }
        for (id, maybeSent) in flight.before {
            switch tracked[id]?.state {
            case .sending(number), .verifying(number), .settling(number):
                tracked[id]?.state = .waiting
                tracked[id]?.item.maybeSent = maybeSent || wasSent
            default: break
            }
        }
    }

    /// Later requests stay below half of what the server called too large.
    private mutating func keepBelow(_ ids: [String]) {
        let bytes = ids.reduce(0) { $0 + (tracked[$1]?.item.bytes ?? 0) }
        limits.batchBytes = min(limits.batchBytes, max(bytes / 2, Limits.leastBatchBytes))
    }

    private mutating func halve(_ ids: [String]) {
        let limit = max(1, (ids.count + 1) / 2)
        for id in ids { tracked[id]?.batchLimit = limit }
    }

    /// Whether a flight is out and has no verdict yet.
    private func isUndecided(_ number: Int) -> Bool {
        flights[number].map { $0.outcome == nil } ?? false
    }

    private func mayBeOurOwn(_ flight: Flight) -> Bool {
        flight.ids.contains { flight.before[$0] == true || tracked[$0]?.item.hasGeneratedKey == true }
    }

    private func isBehindOthers(_ ids: [String]) -> Bool {
        order.first.map { !ids.contains($0) } ?? false
    }

    /// What cannot succeed once this write is refused: later writes of a row it was to make, and the rest of its group.
    private func dependants(of id: String) -> [String] {
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

    private func endedIDs(_ flight: Flight) -> [String] {
        switch flight.outcome {
        case .commitDelivered(_, let ids): ids
        case .commitRejected(_, let id, let dependants, _): [id] + dependants
        default: []
        }
    }

    private mutating func remove(_ ids: [String]) {
        let gone = Set(ids)
        guard !gone.isEmpty else { return }
        order.remove(gone)
        for id in gone { tracked[id] = nil }
    }
}

// MARK: - Waiting

extension QueueMachine {
    private mutating func backOff(_ retryAfter: Duration?, _ jitter: Double, _ effects: inout [Effect]) {
        guard isEnabled else { return }
        let asked = RetryAfter.bounded(retryAfter ?? .zero)
        guard isSessionReady, !isWaitingForAll else {
            // What is booked may end before the server wants to be asked again.
            if asked > .zero { startTimer(.asked, asked, &effects) }
            return
        }
        failures += 1
        let scheduled = RetrySchedule.refresh.wait(afterFailure: failures).jittered(jitter)
        if asked > .zero { startTimer(.asked, asked, &effects) }
        if asked < scheduled { startTimer(.everything, scheduled, &effects) }
    }

    private mutating func startTimer(_ use: TimerUse, _ delay: Duration, _ effects: inout [Effect]) {
        lastID += 1
        timers[lastID] = use
        effects.append(.startTimer(timer: lastID, after: delay))
    }

    private mutating func cancelTimers(of use: TimerUse, _ effects: inout [Effect]) {
        for (timer, its) in timers.sorted(by: { $0.key < $1.key }) where its == use {
            timers[timer] = nil
            effects.append(.cancelTimer(timer: timer))
        }
    }

    private mutating func fired(_ timer: Int, _ effects: inout [Effect]) {
        switch timers.removeValue(forKey: timer) {
        case .everything, .asked: if failures == 0 { failures = 1 }
        case .item(let id): if tracked[id]?.state == .parked { tracked[id]?.state = .waiting }
        case .commit(let flight):
            if let outcome = flights[flight]?.outcome { effects.append(outcome) }
        case .turn: isLeaseHeldByOther = false
        case nil: break
        }
    }

    /// Ends every wait but those for the disk and for another process.
    private mutating func wake(_ effects: inout [Effect]) {
        cancelTimers(of: .asked, &effects)
        hurry(&effects)
    }

    /// Another process's turn. Where one is waited for already, its end is when to look again.
    private mutating func waitForLease(_ remaining: Duration, _ effects: inout [Effect]) {
        guard !isLeaseHeldByOther else { return }
        isLeaseHeldByOther = true
        startTimer(.turn, remaining, &effects)
    }

    /// Ends every wait but those for the disk, for another process, and those the server asked for.
    private mutating func hurry(_ effects: inout [Effect]) {
        cancelTimers(of: .everything, &effects)
        failures = 0
        for (timer, use) in timers.sorted(by: { $0.key < $1.key }) {
            guard case .item(let id) = use else { continue }
            timers[timer] = nil
            effects.append(.cancelTimer(timer: timer))
            if tracked[id]?.state == .parked { tracked[id]?.state = .waiting }
        }
    }

    private mutating func publish(_ effects: inout [Effect]) {
        let next: QueueState =
            if order.isEmpty { .idle } else if !isEnabled { .waitingForNetwork } else if !isSessionReady {
                .waitingForSession
            } else if !flights.isEmpty || isLeaseHeldByOther { .draining } else if !isPathUp { .waitingForNetwork } else
            {
                .retrying(failures: failures)
            }
        guard next != published else { return }
        published = next
        effects.append(.publish(next))
    }
}
