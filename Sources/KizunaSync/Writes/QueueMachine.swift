internal import KizunaStore
package import KizunaCore

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
package struct QueueMachine: Sendable {
    package enum Event: Sendable {
        /// Writes were accepted, in queue order; also those found when the store was opened.
        case queued([QueueItem])
        /// A waiting write does something else now, in its place.
        case rewritten(QueueItem)
        /// The app took a write out, or local data was cleared.
        case withdrawn([String])
        /// The answer, or its absence, for a flight. `jitter` is a fraction of [0, 1).
        case answered(flight: Int, AnswerVerdict, jitter: Double)
        /// No whole answer came; `wasHandled` is false when it is proved that the server did not handle it.
        case unanswered(flight: Int, mayHaveBeenHandled: Bool, reason: String, jitter: Double)
        /// The note that precedes a send could not be written; nothing was sent.
        case notNoted(flight: Int, jitter: Double)
        /// Which of a flight's writes the server already has.
        case verified(flight: Int, present: Set<String>)
        /// The verdict is on disk.
        case committed(flight: Int)
        case commitFailed(flight: Int, jitter: Double)
        case timerFired(timer: Int)
        case pathChanged(isUp: Bool)
        case networkSwitched(isEnabled: Bool)
        /// Whether there is a token of the queue's owner to send with.
        case sessionChanged(isReady: Bool)
        /// `sync()`: try now whatever waits, unless the server asked to be left alone for a while.
        case hurried
        /// The app's explicit wish: try now, whatever the server asked for.
        case woken
        case ended
    }

    package enum Effect: Sendable, Equatable {
        /// Note durably that these may be sent, then send them in one request.
        case send(flight: Int, ids: [String])
        /// Ask the server which of these rows it has, after it called one of them a duplicate.
        case verify(flight: Int, ids: [String], ServerFailure)
        /// Write down: accepted. `resent` tells those whose earlier send had no known outcome.
        case commitDelivered(flight: Int, ids: [String])
        /// Write down: refused, with those that depend on it.
        case commitRefused(flight: Int, id: String, dependants: [String], ServerFailure)
        /// Write down that a send gave no verdict, and whether it may have been handled.
        case noteFailure(ids: [String], maybeSent: [String: Bool], reason: String)
        case startTimer(timer: Int, after: Duration)
        case cancelTimer(timer: Int)
        /// Ask the session for a fresh token; once until it changes.
        case requestSession
        case publish(QueueState)
    }

    /// What the queue is doing, for status and health.
    package enum QueueState: Sendable, Equatable {
        case idle
        case draining
        case waitingForNetwork
        case waitingForSession
        case retrying(failures: Int)
    }

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
    }

    package struct Limits: Sendable {
        package var flights = 4
        package var batchRows = 500
        package var batchBytes = 512 * 1024
        package init() {}
    }

    private enum TimerUse: Sendable, Equatable {
        case everything
        /// As `everything`, and the server's own wish (`Retry-After`): only the app or the network's return ends it early.
        case asked
        case item(String)
        case commit(Int)
    }

    /// How far the queue was looked through for what may start, and what stands in the way of what comes behind.
    private struct Scan: Sendable {
        var position: Int
        var blocked: Set<QueueItem.Token> = []
        var blockedTables: Set<TableID> = []
        var isAnythingBefore = false
        /// Items looked at; what tests hold against the length of the queue.
        var steps = 0
    }

    private var order = QueueOrder()
    /// Kept while nothing but new writes comes, so that one more is looked at alone.
    private var scan: Scan?
    private var tracked: [String: Tracked] = [:]
    private var flights: [Int: Flight] = [:]
    private var timers: [Int: TimerUse] = [:]
    private var failures = 0
    private var isPathUp: Bool
    private var isEnabled: Bool
    private var isSessionReady: Bool
    private var hasAskedSession = false
    private var hasEnded = false
    private var published = QueueState.idle
    private var lastID = 0
    private let limits: Limits

    private static let unsettledLimit = 5
    private static let blindProbe = Duration.seconds(60)
    package static let longestRetryAfter = Duration.seconds(600)

    package init(isPathUp: Bool, isEnabled: Bool, isSessionReady: Bool, limits: Limits = Limits()) {
        self.isPathUp = isPathUp
        self.isEnabled = isEnabled
        self.isSessionReady = isSessionReady
        self.limits = limits
    }

    package var state: QueueState { published }
    package var depth: Int { order.count }
    package var isNetworkEnabled: Bool { isEnabled }
    /// How many items were looked at for the last event.
    package private(set) var stepsOfLastEvent = 0

    package mutating func handle(_ event: Event) -> [Effect] {
        guard !hasEnded else { return [] }
        var effects: [Effect] = []
        if case .queued = event {} else { scan = nil }
        switch event {
        case .queued(let items): queued(items)
        case .rewritten(let item): tracked[item.id]?.item = item
        case .withdrawn(let ids): remove(ids)
        case .answered(let flight, let verdict, let jitter): answered(flight, verdict, jitter, &effects)
        case .unanswered(let flight, let mayHaveBeenHandled, let reason, let jitter):
            guard isUndecided(flight) else { break }
            release(flight, mayHaveBeenHandled: mayHaveBeenHandled, reason: reason, &effects)
            backOff(nil, jitter, &effects)
        case .notNoted(let flight, let jitter):
            guard isUndecided(flight) else { break }
            for (id, maybeSent) in flights.removeValue(forKey: flight)?.before ?? [:] {
                tracked[id]?.state = .waiting
                tracked[id]?.item.maybeSent = maybeSent
            }
            backOff(nil, jitter, &effects)
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
        guard isEnabled, isSessionReady, !isWaitingForAll, !order.isEmpty else { return }
        guard isPathUp || failures > 0 else {
            // The monitor can be wrong: look anyway once in a while.
            if flights.isEmpty { startTimer(.everything, Self.blindProbe, &effects) }
            return
        }
        var at = scan ?? Scan(position: order.start)
        scan = nil
        at.steps = 0
        var busy = flights.count
        while busy < limits.flights, at.position < order.end {
            defer { at.position += 1 }
            guard let id = order[at.position], let entry = tracked[id] else { continue }
            at.steps += 1
            let isFree =
                entry.state == .waiting && !(entry.isStrict && at.isAnythingBefore)
                && !Self.conflicts(entry.item.tokens, with: at)
            if isFree, entry.item.maybeSent, !entry.item.isRepeatable {
                giveUp(id, &effects)
                Self.block(entry.item.tokens, &at)
                busy += 1
            } else if isFree {
                let ids = batch(startingAt: at, entry)
                lastID += 1
                flights[lastID] = Flight(ids: ids, before: maybeSent(ids))
                for member in ids {
                    tracked[member]?.state = .sending(lastID)
                    tracked[member]?.item.maybeSent = true
                    Self.block(tracked[member]?.item.tokens ?? [], &at)
                }
                busy += 1
                effects.append(.send(flight: lastID, ids: ids))
            } else {
                Self.block(entry.item.tokens, &at)
            }
            at.isAnythingBefore = true
        }
        stepsOfLastEvent = at.steps
        scan = at
    }

    private mutating func queued(_ items: [QueueItem]) {
        for item in items where tracked[item.id] == nil {
            // Behind everything accepted before it, which is nearly always everything.
            let isLast = order.insert(item.id) { (tracked[$0]?.item.sequence ?? 0) <= item.sequence }
            tracked[item.id] = Tracked(item: item)
            if !isLast { scan = nil }
        }
    }

    /// The items that travel with the one the scan has reached: those right behind it of the same kind, until a bound or
    /// a write that is not free.
    private func batch(startingAt scan: Scan, _ first: Tracked) -> [String] {
        guard let signature = first.item.signature else { return [first.item.id] }
        var ids = [first.item.id]
        var bytes = first.item.bytes
        var limit = min(limits.batchRows, first.batchLimit)
        var tokens = first.item.tokens
        for position in (scan.position + 1)..<max(scan.position + 1, order.end) {
            guard let id = order[position] else { continue }
            guard let next = tracked[id], next.state == .waiting, !next.isStrict, next.item.signature == signature,
                next.item.table == first.item.table, next.item.tokens.isDisjoint(with: tokens),
                next.item.maybeSent == first.item.maybeSent,
                !Self.conflicts(next.item.tokens, with: scan)
            else { break }
            limit = min(limit, next.batchLimit)
            bytes += next.item.bytes
            guard ids.count + 1 <= limit, bytes <= limits.batchBytes else { break }
            ids.append(id)
            tokens.formUnion(next.item.tokens)
        }
        return ids
    }

    private static func conflicts(_ tokens: Set<QueueItem.Token>, with scan: Scan) -> Bool {
        tokens.contains { token in
            if scan.blocked.contains(token) { return true }
            switch token {
            case .row(let table, _): return scan.blocked.contains(.wholeTable(table))
            case .wholeTable(let table): return scan.blockedTables.contains(table)
            case .group: return false
            }
        }
    }

    private static func block(_ tokens: Set<QueueItem.Token>, _ scan: inout Scan) {
        scan.blocked.formUnion(tokens)
        for token in tokens {
            switch token {
            case .row(let table, _), .wholeTable(let table): scan.blockedTables.insert(table)
            case .group: break
            }
        }
    }

    private func maybeSent(_ ids: [String]) -> [String: Bool] {
        Dictionary(uniqueKeysWithValues: ids.map { ($0, tracked[$0]?.item.maybeSent ?? false) })
    }
}

// MARK: - What answers mean

extension QueueMachine {
    private mutating func answered(
        _ number: Int, _ verdict: AnswerVerdict, _ jitter: Double, _ effects: inout [Effect]
    ) {
        guard let flight = flights[number], flight.outcome == nil else { return }
        switch verdict {
        case .delivered:
            failures = 0
            settle(number, .commitDelivered(flight: number, ids: flight.ids), &effects)
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
        case .refused(let failure)
        where failure.code == ServerFailure.noRowMatchedCode && flight.before.values.allSatisfy { $0 }:
            // It has been sent before, so the row may be as the write left it, and its conditions hold no more.
            failures = 0
            settle(number, .commitDelivered(flight: number, ids: flight.ids), &effects)
        case .duplicate(let failure), .missingReference(let failure), .tooLarge(let failure), .refused(let failure):
            failures = 0
            refused(number, flight, failure, &effects)
        }
    }

    /// A request of one write is refused for good; one of several is cut in halves until the guilty one stands alone.
    private mutating func refused(
        _ number: Int, _ flight: Flight, _ failure: ServerFailure, _ effects: inout [Effect]
    ) {
        guard flight.ids.count > 1 else {
            let id = flight.ids[0]
            let refusal = Effect.commitRefused(flight: number, id: id, dependants: dependants(of: id), failure)
            return settle(number, refusal, &effects)
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
            return refused(number, flight, failure, &effects)
        }
        // A fault with an error code of the database's own was rolled back.
        let mayHaveBeenHandled = failure.status >= 500 && failure.code == nil
        release(
            number, mayHaveBeenHandled: mayHaveBeenHandled, reason: failure.code ?? "HTTP \(failure.status)", &effects)
        for id in flight.ids {
            tracked[id]?.state = .parked
            startTimer(.item(id), RetrySchedule.refresh.wait(afterFailure: most).jittered(jitter), &effects)
        }
    }

    private mutating func verified(_ number: Int, _ present: Set<String>, _ effects: inout [Effect]) {
        guard let flight = flights[number], let failure = flight.duplicate, flight.outcome == nil else { return }
        let delivered = flight.ids.filter { present.contains($0) }
        let absent = flight.ids.filter { !present.contains($0) }
        guard !delivered.isEmpty else { return refused(number, flight, failure, &effects) }
        flights[number]?.ids = delivered
        for id in absent {
            tracked[id]?.state = .waiting
            tracked[id]?.item.maybeSent = false
        }
        if !absent.isEmpty {
            halve(absent)
            effects.append(
                .noteFailure(
                    ids: absent, maybeSent: Dictionary(uniqueKeysWithValues: absent.map { ($0, false) }),
                    reason: "not on the server"))
        }
        settle(number, .commitDelivered(flight: number, ids: delivered), &effects)
    }

    /// A write that may have been handled and names no row to ask for: sending it again could do it twice.
    private mutating func giveUp(_ id: String, _ effects: inout [Effect]) {
        lastID += 1
        flights[lastID] = Flight(ids: [id], before: [id: true])
        let refusal = Effect.commitRefused(
            flight: lastID, id: id, dependants: dependants(of: id), .outcomeUnknown)
        settle(lastID, refusal, &effects)
    }

    /// The verdict is on disk. What came to depend on a refused write while it was being written down goes with it.
    private mutating func committed(_ number: Int, _ effects: inout [Effect]) {
        guard flights[number]?.outcome != nil, let ended = flights.removeValue(forKey: number) else { return }
        let gone = endedIDs(ended)
        guard case .commitRefused(_, let id, _, let failure) = ended.outcome else { return remove(gone) }
        let late = dependants(of: id).filter { !gone.contains($0) }
        remove(gone)
        guard !late.isEmpty else { return }
        lastID += 1
        flights[lastID] = Flight(ids: late, before: maybeSent(late))
        settle(lastID, .commitRefused(flight: lastID, id: id, dependants: late, failure), &effects)
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
        effects.append(.noteFailure(ids: flight.ids, maybeSent: known, reason: reason))
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
        flight.ids.contains { flight.before[$0] == true || tracked[$0]?.item.isKeyMinted == true }
    }

    private func isBehindOthers(_ ids: [String]) -> Bool {
        order.first.map { !ids.contains($0) } ?? false
    }

    /// What cannot succeed once this write is refused: later writes of a row it was to make, and the rest of its group.
    private func dependants(of id: String) -> [String] {
        guard let refused = tracked[id]?.item, let at = order.position(of: id) else { return [] }
        var lost = refused.creates
        var found: [String] = []
        for position in (at + 1)..<max(at + 1, order.end) {
            guard let later = order[position], let item = tracked[later]?.item else { continue }
            let isOfGroup = refused.group != nil && item.group == refused.group
            let isOfRow = item.table == refused.table && !item.needs.isEmpty && item.needs.isSubset(of: lost)
            guard isOfGroup || isOfRow else { continue }
            found.append(later)
            lost.formUnion(item.creates)
        }
        return found
    }

    private func endedIDs(_ flight: Flight) -> [String] {
        switch flight.outcome {
        case .commitDelivered(_, let ids): ids
        case .commitRefused(_, let id, let dependants, _): [id] + dependants
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
        let asked = min(retryAfter ?? .zero, Self.longestRetryAfter)
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
        case nil: break
        }
    }

    /// Ends every wait but those for the disk.
    private mutating func wake(_ effects: inout [Effect]) {
        cancelTimers(of: .asked, &effects)
        hurry(&effects)
    }

    /// Ends every wait but those for the disk and those the server asked for.
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
            } else if !flights.isEmpty { .draining } else if !isPathUp { .waitingForNetwork } else {
                .retrying(failures: failures)
            }
        guard next != published else { return }
        published = next
        effects.append(.publish(next))
    }
}
