import KizunaCore
import KizunaStore
import KizunaSync
import KizunaSyncTesting
import Testing

/// Random walks against a model of the server. The invariants Q1 to Q6 are checked after each step.
@Suite struct QueueWalkTests {
    @Test(arguments: 1...60)
    func theInvariantsHoldOnARandomWalk(seed: UInt64) {
        var walk = QueueWalk(seed: seed)
        for _ in 0..<150 { walk.step() }
        walk.calm()
        #expect(walk.faults.isEmpty, "seed \(seed): \(walk.faults.prefix(3))")
        #expect(walk.machine.depth == 0, "seed \(seed): \(walk.machine.depth) items left")
    }

    @Test func theWalkFindsAMutationThatIsAppliedTwice() {
        let seen = (UInt64(1)...20).contains { (seed: UInt64) in
            var walk = QueueWalk(seed: seed)
            walk.plantsBlindRepeats = true
            for _ in 0..<150 { walk.step() }
            walk.calm()
            return !walk.faults.isEmpty
        }
        #expect(seen)
    }
}

/// One walk: a machine, its effects without a result yet, and a server that is a dictionary.
struct QueueWalk {
    private enum Work { case send([String]), verify([String]), commit([String], isRejection: Bool) }

    private(set) var machine = QueueMachine(isPathUp: true, isEnabled: true, isSessionReady: true)
    private(set) var faults: [String] = []
    /// Whether the server applies a repeated insert again instead of reporting a duplicate.
    var plantsBlindRepeats = false

    private var random: SeededRandom
    private var items: [String: QueueItem] = [:]
    private var order: [String] = []
    private var poisoned: Set<String> = []
    private var work: [Int: Work] = [:]
    private var timers: Set<Int> = []
    private var isEnabled = true
    private var isReady = true
    private var rows: Set<RowKey> = []
    private var applied: [String: Int] = [:]
    private var lastApplied: [RowKey: Int] = [:]
    private var count = 0

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func step() {
        switch Int(random.next() % 10) {
        case 0...2: accept()
        case 3...7: if let flight = work.keys.sorted().randomElement(using: &random) { finish(flight, isCalm: false) }
        case 8: if let timer = timers.sorted().randomElement(using: &random) { fire(timer) }
        default: disturb()
        }
    }

    /// Ends all faults and handles events until the queue is empty.
    mutating func calm() {
        isEnabled = true
        isReady = true
        for event: QueueMachine.Event in [
            .networkSwitched(isEnabled: true), .sessionChanged(isReady: true), .pathChanged(isUp: true),
        ] { handle(event) }
        for _ in 0..<10_000 where machine.depth > 0 {
            if let flight = work.keys.min() {
                finish(flight, isCalm: true)
            } else if let timer = timers.min() {
                fire(timer)
            } else {
                faults.append("Q3: \(machine.depth) items wait and nothing will wake them")
                return
            }
        }
    }

    private mutating func accept() {
        count += 1
        let id = "w\(count)"
        let key = "k\(random.next() % 5)"
        let makes = random.chance(0.5)
        let item = queueItem(
            id, key, makes: makes, batch: makes && random.chance(0.7) ? "insert" : nil,
            group: random.chance(0.1) ? "g\(random.next() % 2)" : nil, isGenerated: makes, sequence: Int64(count))
        items[id] = item
        order.append(id)
        if random.chance(0.1) { poisoned.insert(id) }
        handle(.queued([item]))
    }

    private mutating func disturb() {
        switch Int(random.next() % 6) {
        case 0:
            isEnabled.toggle()
            handle(.networkSwitched(isEnabled: isEnabled))
        case 1:
            isReady.toggle()
            handle(.sessionChanged(isReady: isReady))
        case 2: handle(.pathChanged(isUp: random.chance(0.5)))
        case 3: handle(.retryRequested(respectingRetryAfter: random.chance(0.5)))
        case 4: handle(.leaseHeldByOther(random.chance(0.5) ? .seconds(5) : nil))
        default:
            guard let id = order.filter({ items[$0] != nil }).randomElement(using: &random) else { return }
            drop([id])
            handle(.withdrawn([id]))
        }
    }

    private mutating func fire(_ timer: Int) {
        timers.remove(timer)
        handle(.timerFired(timer: timer))
    }

    // MARK: - The server

    private mutating func finish(_ flight: Int, isCalm: Bool) {
        guard let job = work.removeValue(forKey: flight) else { return }
        let jitter = random.fraction()
        let fate = isCalm ? 9 : Int(random.next() % 10)
        switch job {
        case .commit(let ids, _):
            guard fate > 1 else {
                work[flight] = nil
                return handle(.commitFailed(flight: flight, jitter: jitter))
            }
            drop(ids)
            handle(.committed(flight: flight))
        case .verify(let ids):
            guard fate > 1 else {
                return handle(.unanswered(flight: flight, mayHaveBeenHandled: true, reason: "lost", jitter: jitter))
            }
            handle(.lookedUp(flight: flight, .present(Set(ids.filter { applied[$0] != nil })), jitter: jitter))
        case .send(let ids):
            switch fate {
            case 0: handle(.unanswered(flight: flight, mayHaveBeenHandled: false, reason: "offline", jitter: jitter))
            case 1: handle(.unanswered(flight: flight, mayHaveBeenHandled: true, reason: "lost", jitter: jitter))
            case 2:
                _ = serve(ids)
                handle(.unanswered(flight: flight, mayHaveBeenHandled: true, reason: "answer lost", jitter: jitter))
            case 3:
                let busy = WriteOutcome.unavailable(retryAfter: .seconds(1), mayHaveBeenHandled: false)
                handle(.answered(flight: flight, busy, jitter: jitter))
            case 4:
                isReady = false
                handle(.answered(flight: flight, .needsSession, jitter: jitter))
            case 5 where random.chance(0.5):
                let heldByOther: Duration? = random.chance(0.5) ? .seconds(5) : nil
                handle(.leaseLost(flight: flight, wasSent: false, heldByOther: heldByOther))
            case 5: handle(.notPersisted(flight: flight, jitter: jitter))
            default: handle(.answered(flight: flight, serve(ids), jitter: jitter))
            }
        }
    }

    /// Applies a whole request or nothing of it, as one PostgreSQL statement does.
    private mutating func serve(_ ids: [String]) -> WriteOutcome {
        if ids.contains(where: { poisoned.contains($0) }) { return .rejected(serverFault(400, "23514")) }
        for id in ids where applied[id] != nil && !plantsBlindRepeats {
            if let item = items[id], !item.creates.isEmpty { return .duplicate(serverFault(409, "23505")) }
        }
        for id in ids {
            guard let item = items[id] else { continue }
            applied[id, default: 0] += 1
            let number = order.firstIndex(of: id) ?? 0
            for key in item.creates.union(item.needs) {
                if let last = lastApplied[key], last > number { faults.append("Q2: \(id) came after a later write") }
                lastApplied[key] = number
            }
            if !item.creates.isEmpty, applied[id] != 1 { faults.append("\(id) was made \(applied[id] ?? 0) times") }
        }
        return .delivered
    }

    // MARK: - The machine

    private mutating func drop(_ ids: [String]) {
        for id in ids { items[id] = nil }
    }

    private mutating func handle(_ event: QueueMachine.Event) {
        for effect in machine.handle(event) {
            switch effect {
            case .send(let flight, let ids, _):
                check(ids)
                work[flight] = .send(ids)
            case .resend(let flight, let ids): work[flight] = .send(ids)
            case .lookUp(let flight, let ids, _): work[flight] = .verify(ids)
            case .commitDelivered(let flight, let ids):
                for id in ids where items[id] != nil && applied[id] == nil {
                    faults.append("Q1: \(id) is delivered and the server has not seen it")
                }
                work[flight] = .commit(ids, isRejection: false)
            case .commitRejected(let flight, let id, let dependants, _):
                if items[id] != nil, !poisoned.contains(id) { faults.append("Q5: \(id) was refused without a reason") }
                work[flight] = .commit([id] + dependants, isRejection: true)
            case .startTimer(let timer, _): timers.insert(timer)
            case .cancelTimer(let timer): timers.remove(timer)
            case .recordFailure, .requestSession, .publish: break
            }
        }
    }

    /// Q2 and Q4: no earlier mutation that waits or is in flight touches the same thing, and sending is allowed.
    private mutating func check(_ ids: [String]) {
        if !isEnabled || !isReady { faults.append("Q4: \(ids) sent while nothing may be") }
        for id in ids {
            guard let item = items[id], let at = order.firstIndex(of: id) else { continue }
            for earlier in order[..<at] where !ids.contains(earlier) {
                if let other = items[earlier], !other.tokens.isDisjoint(with: item.tokens) {
                    faults.append("Q2: \(id) was sent while \(earlier) waits")
                }
            }
        }
        if work.values.filter({ if case .commit = $0 { false } else { true } }).count >= 4 {
            faults.append("more than four requests at once")
        }
    }
}
