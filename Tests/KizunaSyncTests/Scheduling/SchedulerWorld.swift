import KizunaCore
import KizunaSync
import KizunaSyncTesting

/// A machine and the world as its effects leave it: which timers run, which ports are open, what is out.
struct SchedulerWorld {
    var machine: SchedulerMachine
    var now = MonotonicInstant.zero
    /// The fraction drawn for each setting of the timer; nil leaves the drawing to the test.
    var jitter: Double? = 0.5

    private(set) var timers: [Int: MonotonicInstant] = [:]
    private(set) var pendingArms: [Int] = []
    private(set) var pathSource: Int?
    private(set) var foregroundSource: Int?
    private(set) var realtimeSource: Int?
    private(set) var subscriptions: [Int] = []
    private(set) var lastSource = 0
    /// What the machine waits for an answer to.
    private(set) var out: (step: Step, attempt: Int)?
    private(set) var lastAttempt = 0
    private(set) var resolved: [Int: Bool] = [:]
    private(set) var effects: [SchedulerMachine.Effect] = []
    private(set) var reports: [SchedulerFailure] = []

    enum Step: String { case refreshing, syncing, checking }

    init(_ change: (inout SchedulerMachine.Settings) -> Void = { _ in }) {
        var settings = SchedulerMachine.Settings()
        settings.pollInterval = .seconds(10)
        settings.hasPathMonitor = true
        settings.hasForegroundSource = true
        settings.hasRealtime = true
        settings.readsReset = true
        change(&settings)
        machine = SchedulerMachine(settings)
    }

    /// Tells the machine one event; timers that fired and steps that returned are over by it.
    @discardableResult
    mutating func tell(_ event: SchedulerMachine.Event) -> [SchedulerMachine.Effect] {
        switch event {
        case .timerFired(let timer): timers[timer] = nil
        case .jitterDrawn(let arm, _): pendingArms.removeAll { $0 == arm }
        case .sessionRefreshed(let attempt, _): returned(.refreshing, attempt)
        case .synced(let attempt, _): returned(.syncing, attempt)
        case .resetRead(let attempt, _): returned(.checking, attempt)
        default: break
        }
        let caused = machine.handle(event, at: now)
        effects += caused
        for effect in caused { perform(effect) }
        return caused
    }

    private mutating func returned(_ step: Step, _ attempt: Int) {
        if let out, out.step == step, out.attempt == attempt { self.out = nil }
    }

    private mutating func perform(_ effect: SchedulerMachine.Effect) {
        switch effect {
        case .startTimer(let timer, let delay): timers[timer] = now + delay
        case .cancelTimer(let timer): timers[timer] = nil
        case .drawJitter(let arm):
            pendingArms.append(arm)
            if let jitter { tell(.jitterDrawn(arm: arm, jitter)) }
        case .startPath(let source): pathSource = source
        case .cancelPath: pathSource = nil
        case .startForeground(let source): foregroundSource = source
        case .stopForeground: foregroundSource = nil
        case .subscribeRealtime(let source): realtimeSource = source
        case .cancelRealtime: realtimeSource = nil
        case .subscribe(let source):
            subscriptions.append(source)
            lastSource = source
        case .unsubscribe(let source): subscriptions.removeAll { $0 == source }
        case .refreshSession(let attempt):
            out = (.refreshing, attempt)
            lastAttempt = attempt
        case .sync(let attempt, _): out = (.syncing, attempt)
        case .readReset(let attempt): out = (.checking, attempt)
        case .cancelStep: break
        case .resolve(let waiter, let didSucceed): resolved[waiter] = didSucceed
        case .report(let failure): reports.append(failure)
        }
    }

    /// Moves to the next timer and fires it; answers which.
    @discardableResult
    mutating func fireNext() -> Int? {
        guard let next = timers.min(by: { ($0.value, $0.key) < ($1.value, $1.key) }) else { return nil }
        now = max(now, next.value)
        tell(.timerFired(timer: next.key))
        return next.key
    }

    mutating func pass(_ duration: Duration) {
        let end = now + duration
        while let next = timers.values.min(), next <= end { fireNext() }
        now = end
    }

    /// Answers whatever is out with success until nothing is.
    mutating func finishRun(_ failure: SchedulerFailure? = nil) {
        while let out {
            switch out.step {
            case .refreshing: tell(.sessionRefreshed(attempt: out.attempt, .ready))
            case .syncing: tell(.synced(attempt: out.attempt, failure))
            case .checking: tell(.resetRead(attempt: out.attempt, false))
            }
        }
    }

    static let failure = SchedulerFailure(SyncError(.connectivity, "x"))
}
