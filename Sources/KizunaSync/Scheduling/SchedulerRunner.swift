internal import Foundation
package import KizunaCore
internal import Synchronization

/// Runs the loop of one client: does what its machine says and decides nothing.
///
/// One mutex guards the state. Effects run one at a time and in order, and so do the calls of the app's handlers, on the
/// threads that cause them and with no lock held.
package final class SchedulerRunner: Sendable {
    /// The parts that are set at creation and never change.
    package struct Ports: Sendable {
        package var client: any SchedulerClient
        package var pathMonitor: (any KizunaSyncPathMonitor)?
        package var foregroundSource: (any KizunaSyncForegroundSource)?
        package var realtime: (any KizunaSyncRealtimeWakeup)?
        package var topics: [String] = []
        /// With nil, the jitter comes from the environment.
        package var jitterSource: (@Sendable () -> Double)?
        package var needsReset: (@Sendable () async -> Bool)?

        package init(client: any SchedulerClient) { self.client = client }
    }

    private struct Listener {
        let handler: @Sendable (KizunaSyncHealth) -> Void
        var isGreeted = false
    }

    /// A call of an app's handler.
    private enum Delivery: Sendable {
        case failure(SchedulerFailure)
        case health(KizunaSyncHealth)
        /// The first call of a new listener.
        case currentHealth(listener: Int, KizunaSyncHealth)
    }

    private struct State {
        var machine: SchedulerMachine
        var effects = EffectQueue<SchedulerMachine.Effect>()
        var deliveries = EffectQueue<Delivery>()
        var assigned: SchedulerAssignments
        var health: KizunaSyncHealth
        var dates = HealthDates()
        var listeners: [Int: Listener] = [:]
        var lastID = 0
        var waiters: [Int: CheckedContinuation<Bool, Never>] = [:]
        var step: (attempt: Int, ticket: TaskTicket)?
        var subscriptions: [Int: SchedulerSubscription] = [:]
        var realtime: (any KizunaSyncRealtimeSubscription)?
    }

    private let ports: Ports
    package let environment: SyncEnvironment
    private let state: Mutex<State>
    private let timers: TimerSet

    package init(
        _ settings: SchedulerMachine.Settings, ports: Ports, assigned: SchedulerAssignments,
        environment: SyncEnvironment
    ) {
        self.ports = ports
        self.environment = environment
        timers = TimerSet(clock: environment.clock)
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

    /// Takes one event. Its effects are performed before this returns, unless another thread performs them.
    package func step(_ event: SchedulerMachine.Event) {
        state.withLock { handle(event, &$0) }
        run()
    }

    /// Changes a value that the app may assign, and handles the event that `change` returns in the same critical section.
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
                state.deliveries.append([.failure(failure)])
            } else {
                state.effects.append([effect])
            }
        }
        let health = state.dates.health(state.machine.reading, now: now, wallClock: environment.wallClock)
        guard health != state.health else { return }
        state.health = health
        guard !state.listeners.isEmpty else { return }
        state.deliveries.append([.health(health)])
    }

    package var health: KizunaSyncHealth { state.withLock { $0.health } }

    package var assigned: SchedulerAssignments { state.withLock { $0.assigned } }

    /// Calls the handler with the current health, then with each change.
    package func addListener(_ handler: @escaping @Sendable (KizunaSyncHealth) -> Void) -> Int {
        let id = state.withLock { state in
            state.lastID += 1
            let id = state.lastID
            state.listeners[id] = Listener(handler: handler)
            state.deliveries.append([.currentHealth(listener: id, state.health)])
            return id
        }
        run()
        return id
    }

    package func removeListener(_ id: Int) {
        state.withLock { _ = $0.listeners.removeValue(forKey: id) }
    }

    /// Requests a run. Waits until it has ended and returns whether it succeeded.
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

    /// Runs once. Returns whether the run succeeded and no mutation is pending. While the path is not known to be satisfied,
    /// waits some seconds for its report: the monitor of an app that was launched for this run has only just started.
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
            // Cancelled: the caller checks for it.
        }
    }

    // MARK: - Deliveries

    /// The performer of the effects also makes the deliveries, so that an effect never waits for an app's handler.
    private func run() {
        guard state.withLock({ $0.effects.claim() }) else { return }
        while let effect = state.withLock({ $0.effects.next() }) { perform(effect) }
        guard state.withLock({ $0.deliveries.claim() }) else { return }
        while let delivery = state.withLock({ $0.deliveries.next() }) { deliver(delivery) }
    }

    private func deliver(_ delivery: Delivery) {
        switch delivery {
        case .failure(let failure): assigned.onError?(failure.error)
        case .health(let health): deliver(health)
        case .currentHealth(let listener, let health): greet(listener, health)
        }
    }

    private func deliver(_ health: KizunaSyncHealth) {
        for id in state.withLock({ $0.listeners.keys.sorted() }) {
            // Looked up each time: a handler may have removed another listener.
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
        case .startTimer(let timer, let delay):
            timers.start(timer, after: delay) { [weak self] in self?.step(.timerFired(timer: timer)) }
        case .cancelTimer(let timer): timers.cancel(timer)
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
