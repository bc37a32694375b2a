internal import KizunaStore
internal import KizunaCore

/// Decides which queued mutation is sent when, and what each response means for it. Pure: events in, effects out.
///
/// States of a mutation, and where each may go:
/// - `waiting`: → `sending` when no earlier mutation touches the same rows and the queue may send.
/// - `sending(flight)`: a request that holds it is in flight, or is being persisted as about to leave. → `waiting` (no
///   outcome), `lookingUp`, `settling`.
/// - `lookingUp(flight)`: the response does not tell the outcome, so the rows are read. → `settling`, `waiting`.
/// - `settling(flight)`: the outcome is being persisted. → gone, or `settling` again when the commit fails.
/// - `parked(until)`: the mutation waits for a time of its own. → `waiting`.
///
/// Invariants:
/// - Q1: a mutation leaves only by a committed outcome, or when the app discards it.
/// - Q2: two mutations that touch the same row are never in flight together, and the earlier one goes first.
/// - Q3: every failure starts a timer; no retry depends on another mutation.
/// - Q4: nothing is sent while the network is switched off or the session is not ready.
/// - Q5: a rejection parks only what depends on it.
/// - Q6: an outcome that cannot be persisted is persisted later; the request is not sent again for it.
/// - Q7: nothing is sent while another process holds the lease; a timer looks again.
package struct QueueMachine: Sendable {
    enum ItemState: Sendable, Equatable {
        case waiting
        case sending(Int)
        case lookingUp(Int)
        case settling(Int)
        case parked
    }

    struct Tracked: Sendable {
        var item: QueueItem
        var state = ItemState.waiting
        /// Answers in a row that settled nothing for this item.
        var unsettled = 0
        /// Most items it may share a request with; halves when a shared request is refused.
        var batchLimit = Int.max
        /// Whether it now waits for everything before it: it referred to a row that is not there yet.
        var isStrict = false
    }

    struct Flight: Sendable {
        var ids: [String]
        var before: [String: Bool]
        var outcome: Effect?
        /// What is being looked up before the outcome is known.
        var lookUp: LookUp?
        /// Whether the request asks the server to return the rows.
        var returnsRows = true
        /// Writes of it that the app queued again before their refusal was known to be on disk.
        var requeued: [QueueItem] = []
    }

    enum TimerUse: Sendable, Equatable {
        case everything
        /// As `everything`, and the server's own wish (`Retry-After`): only the app or the network's return ends it early.
        case asked
        case item(String)
        case commit(Int)
        /// The end of another process's turn.
        case turn
    }

    var order = QueueOrder()
    /// Kept while nothing but new writes comes, so that one more is looked at alone.
    var scan: QueueScan?
    var tracked: [String: Tracked] = [:]
    var flights: [Int: Flight] = [:]
    var timers: [Int: TimerUse] = [:]
    var failures = 0
    var isPathUp: Bool
    var isEnabled: Bool
    var isSessionReady: Bool
    var hasAskedSession = false
    var isLeaseHeldByOther = false
    var hasEnded = false
    var published = QueueState.idle
    var lastID = 0
    var limits: Limits
    /// What the current event asks for; `handle(_:)` returns it.
    var effects: [Effect] = []
    /// Tables whose rows may be written but not returned: requests for them do not ask for the rows.
    var writeOnlyTables: Set<TableID> = []

    static let unsettledLimit = 5
    static let blindProbe = Duration.seconds(60)

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
    package internal(set) var stepsOfLastEvent = 0

    package mutating func handle(_ event: Event) -> [Effect] {
        guard !hasEnded else { return [] }
        defer { effects = [] }
        if case .queued = event {} else { scan = nil }
        switch event {
        case .queued(let items): queued(items)
        case .rewritten(let item): rewrite(item)
        case .withdrawn(let ids): remove(ids)
        case .answered(let flight, let outcome, let jitter): answered(flight, outcome, jitter)
        case .unanswered(let flight, let mayHaveBeenHandled, let reason, let jitter):
            guard isUndecided(flight) else { break }
            release(flight, mayHaveBeenHandled: mayHaveBeenHandled, reason: reason)
            backOff(nil, jitter)
        case .notPersisted(let flight, let jitter):
            guard isUndecided(flight) else { break }
            for (id, maybeSent) in flights.removeValue(forKey: flight)?.before ?? [:] {
                tracked[id]?.state = .waiting
                tracked[id]?.item.maybeSent = maybeSent
            }
            backOff(nil, jitter)
        case .leaseLost(let flight, let wasSent, let heldByOther):
            takeBack(flight, wasSent: wasSent)
            if let heldByOther { waitForLease(heldByOther) }
        case .leaseHeldByOther(let remaining?): waitForLease(remaining)
        case .leaseHeldByOther(nil):
            isLeaseHeldByOther = false
            cancelTimers(of: .turn)
        case .lookedUp(let flight, let found, let jitter): lookedUp(flight, found, jitter)
        case .committed(let flight):
            committed(flight)
        case .commitFailed(let flight, let jitter):
            guard flights[flight]?.outcome != nil else { break }
            startTimer(.commit(flight), RetrySchedule.refresh.wait(afterFailure: 2).jittered(jitter))
        case .timerFired(let timer): fired(timer)
        case .pathChanged(let isUp):
            isPathUp = isUp
            if isUp { wake() }
        case .networkSwitched(let enabled):
            isEnabled = enabled
            if enabled {
                wake()
            } else {
                cancelTimers(of: .everything)
                cancelTimers(of: .asked)
            }
        case .sessionChanged(let isReady):
            isSessionReady = isReady
            hasAskedSession = false
            if isReady { hurry() }
        case .retryRequested(respectingRetryAfter: true):
            // Tried now, but the schedule goes on where it was, since a scheduler asks again and again. And asked for by
            // hand: try even while the monitor says offline.
            let before = failures
            hurry()
            failures = max(before, isPathUp ? 0 : 1)
        case .retryRequested(respectingRetryAfter: false):
            wake()
            failures = isPathUp ? 0 : 1
        case .ended:
            hasEnded = true
            return timers.keys.sorted().map { .cancelTimer(timer: $0) }
        }
        startWhatMayStart()
        publish()
        return effects
    }
}
