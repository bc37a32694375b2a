internal import Foundation
package import KizunaCore
internal import Synchronization

/// Runs the loop of one client: does what its machine says and decides nothing.
///
/// State is guarded by one mutex. Effects and calls of the app's handlers each happen one at a time and in order, on the
/// threads that cause them, with no lock held.
package final class SchedulerRunner: Sendable {
    /// What is given once.
    package struct Ports: Sendable {
        package var client: any SchedulerClient
        package var pathMonitor: (any KizunaSyncPathMonitor)?
        package var foregroundSource: (any KizunaSyncForegroundSource)?
        package var realtime: (any KizunaSyncRealtimeWakeup)?
        package var topics: [String] = []
        /// Nil draws from the environment.
        package var jitterSource: (@Sendable () -> Double)?
        package var needsReset: (@Sendable () async -> Bool)?

        package init(client: any SchedulerClient) { self.client = client }
    }

    private struct Listener {
        let handler: @Sendable (KizunaSyncHealth) -> Void
        var isGreeted = false
    }

    private struct State {
        var machine: SchedulerMachine
        var assigned: SchedulerAssignments
        var health: KizunaSyncHealth
        var dates = HealthDates()
        var listeners: [Int: Listener] = [:]
        var lastID = 0
        var waiters: [Int: CheckedContinuation<Bool, Never>] = [:]
        var timers: [Int: TimerTicket?] = [:]
        var step: (attempt: Int, ticket: TaskTicket)?
        var subscriptions: [Int: SchedulerSubscription] = [:]
        var realtime: (any KizunaSyncRealtimeSubscription)?
    }

    private let ports: Ports
    package let environment: SyncEnvironment
    private let state: Mutex<State>
    private let effects = SerialQueue()
    private let deliveries = SerialQueue()

    package init(
        _ settings: SchedulerMachine.Settings, ports: Ports, assigned: SchedulerAssignments,
        environment: SyncEnvironment
    ) {
        self.ports = ports
        self.environment = environment
        var settings = settings
        settings.hasPathMonitor = ports.pathMonitor != nil
        settings.hasForegroundSource = ports.foregroundSource != nil
        settings.hasRealtime = ports.realtime != nil && !ports.topics.isEmpty
        settings.readsReset = ports.needsReset != nil
        let machine = SchedulerMachine(settings)
        var dates = HealthDates()
        let health = dates.health(machine.reading, now: .zero, wallClock: environment.wallClock)
        state = Mutex(State(machine: machine, assigned: assigned, health: health, dates: dates))
    }

    // MARK: - Inputs

    /// Takes one event; what follows from it has begun when this returns, unless another thread is about it.
    package func step(_ event: SchedulerMachine.Event) {
        state.withLock { handle(event, &$0) }
        run()
    }

    /// Changes what the app may assign, and tells the machine in the same breath where it matters to it.
    package func assign(_ change: (inout SchedulerAssignments) -> SchedulerMachine.Event?) {
        state.withLock { state in
            if let event = change(&state.assigned) { handle(event, &state) }
        }
        run()
    }

    private func handle(_ event: SchedulerMachine.Event, _ state: inout State) {
        let now = environment.clock.now
        for effect in state.machine.handle(event, at: now) {
            if case .report(let failure) = effect {
                deliveries.add { [self] in assigned.onError?(failure.error) }
            } else {
                effects.add { [self] in perform(effect) }
            }
        }
        let health = state.dates.health(state.machine.reading, now: now, wallClock: environment.wallClock)
        guard health != state.health else { return }
        state.health = health
        guard !state.listeners.isEmpty else { return }
        deliveries.add { [self] in deliver(health) }
    }

    package var health: KizunaSyncHealth { state.withLock { $0.health } }

    package var assigned: SchedulerAssignments { state.withLock { $0.assigned } }

    /// Calls the handler with the present health, then with each change.
    package func addListener(_ handler: @escaping @Sendable (KizunaSyncHealth) -> Void) -> Int {
        let id = state.withLock { state in
            state.lastID += 1
            let id = state.lastID
            state.listeners[id] = Listener(handler: handler)
            let health = state.health
            deliveries.add { [self] in greet(id, health) }
            return id
        }
        run()
        return id
    }

    package func removeListener(_ id: Int) {
        state.withLock { _ = $0.listeners.removeValue(forKey: id) }
    }

    /// Asks for a run and says, when it has ended, whether it succeeded.
    package func runToEnd() async -> Bool {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.lastID += 1
                state.waiters[state.lastID] = continuation
                handle(.runAwaited(waiter: state.lastID), &state)
            }
            run()
        }
    }

    /// Runs once, and says whether that succeeded and no write is left. Where the path is not known to be satisfied, it
    /// waits some seconds for its report: an app that was started for this run has just begun to monitor.
    package func runAndLookWhetherDone() async -> Bool {
        await untilOnline(within: SchedulerWaits.firstReport)
        guard !Task.isCancelled, await runToEnd() else { return false }
        do {
            return try await ports.client.outboxDepth() == 0
        } catch {
            return false
        }
    }

    private func untilOnline(within limit: Duration) async {
        let channel = LatestValueChannel<KizunaSyncHealth>()
        let id = addListener { channel.put($0) }
        let timer = environment.clock.schedule(after: limit) { channel.finish() }
        defer {
            timer.cancel()
            removeListener(id)
        }
        do {
            while let health = try await channel.next(), health.phase == .offline {}
        } catch {
            // Cancelled: the caller looks.
        }
    }

    // MARK: - Deliveries

    /// Whoever runs the effects also runs the deliveries, so that an effect never waits for an app's handler.
    private func run() {
        if effects.drain() { deliveries.drain() }
    }

    private func deliver(_ health: KizunaSyncHealth) {
        for id in state.withLock({ $0.listeners.keys.sorted() }) {
            // Looked up each time: a handler may have ended another one's subscription.
            let listener = state.withLock { $0.listeners[id] }
            if let listener, listener.isGreeted { listener.handler(health) }
        }
    }

    private func greet(_ id: Int, _ health: KizunaSyncHealth) {
        let handler = state.withLock { state in
            state.listeners[id]?.isGreeted = true
            return state.listeners[id]?.handler
        }
        handler?(health)
    }

    // MARK: - Effects

    private func perform(_ effect: SchedulerMachine.Effect) {
        switch effect {
        case .startTimer(let timer, let delay): startTimer(timer, delay)
        case .cancelTimer(let timer):
            let ticket = state.withLock { $0.timers.removeValue(forKey: timer) }
            ticket??.cancel()
        case .drawJitter(let arm):
            step(.jitterDrawn(arm: arm, ports.jitterSource?() ?? environment.randomFraction()))
        case .startPath(let source):
            ports.pathMonitor?.start { [weak self] in self?.step(.pathReported(source: source, isSatisfied: $0)) }
        case .cancelPath: ports.pathMonitor?.cancel()
        case .startForeground(let source):
            ports.foregroundSource?.start { [weak self] in self?.step(.foregrounded(source: source)) }
        case .stopForeground: ports.foregroundSource?.stop()
        case .subscribeRealtime(let source):
            let subscription = ports.realtime?.subscribe(topics: ports.topics) { [weak self] in
                self?.step(.doorbellRang(source: source))
            }
            state.withLock { $0.realtime = subscription }
        case .cancelRealtime: takeRealtime()?.cancel()
        case .subscribe(let source): subscribe(source)
        case .unsubscribe(let source): state.withLock { $0.subscriptions.removeValue(forKey: source) }?.cancel()
        case .refreshSession, .sync, .readReset: startStep(effect)
        case .cancelStep(let attempt):
            let step = state.withLock { $0.step }
            if step?.attempt == attempt { step?.ticket.cancel() }
        case .resolve(let waiter, let didSucceed):
            state.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume(returning: didSucceed)
        case .report: break
        }
    }

    private func takeRealtime() -> (any KizunaSyncRealtimeSubscription)? {
        state.withLock { state in
            defer { state.realtime = nil }
            return state.realtime
        }
    }

    private func startTimer(_ timer: Int, _ delay: Duration) {
        state.withLock { $0.timers[timer] = .some(nil) }
        let ticket = environment.clock.schedule(after: delay) { [weak self] in
            self?.state.withLock { _ = $0.timers.removeValue(forKey: timer) }
            self?.step(.timerFired(timer: timer))
        }
        // One that fired already is not kept.
        state.withLock { state in
            if state.timers[timer] != nil { state.timers[timer] = ticket }
        }
    }

    private func startStep(_ effect: SchedulerMachine.Effect) {
        let attempt: Int
        let ticket: TaskTicket
        switch effect {
        case .refreshSession(let id):
            attempt = id
            ticket = environment.spawn { [self] in
                step(.sessionRefreshed(attempt: id, await assigned.refreshSession.outcome()))
            }
        case .sync(let id, let asksReads):
            attempt = id
            ticket = environment.spawn { [self] in step(.synced(attempt: id, await sync(asksReads: asksReads))) }
        case .readReset(let id):
            attempt = id
            ticket = environment.spawn { [self] in
                step(.resetRead(attempt: id, await ports.needsReset?() ?? false))
            }
        default: return
        }
        state.withLock { $0.step = (attempt, ticket) }
    }

    private func sync(asksReads: Bool) async -> SchedulerFailure? {
        do {
            if let sync = assigned.sync { try await sync() } else { try await ports.client.sync(asksReads: asksReads) }
            return nil
        } catch {
            return SchedulerFailure(error)
        }
    }

    private func subscribe(_ source: Int) {
        environment.spawn { [self] in
            do {
                let subscription = try await ports.client.subscribe { [weak self] event in
                    switch event {
                    case .queueDepth(let depth): self?.step(.queueDepthChanged(source: source, depth))
                    case .engineReplaced: self?.step(.engineReplaced(source: source))
                    case .closed: self?.step(.clientClosed(source: source))
                    }
                }
                state.withLock { $0.subscriptions[source] = subscription }
                step(.subscribed(source: source))
                step(.queueDepthRead(source: source, try await ports.client.outboxDepth()))
            } catch {
                step(.subscriptionRejected(source: source, SchedulerFailure(error)))
            }
        }
    }
}
