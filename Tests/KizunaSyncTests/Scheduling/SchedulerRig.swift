import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization

/// A scheduler in virtual time with every port replaced, and what it did.
final class SchedulerRig: Sendable {
    let simulation: Simulation
    let client = FakeSchedulerClient()
    let path = FakePathMonitor()
    let foreground = FakeForegroundSource()
    let realtime = FakeRealtime()
    /// The fraction that the next settings of the timer draw.
    let jitter = Mutex(0.0)
    /// What refresh answers; nil refreshes at once and says yes.
    let refresh = Mutex<(@Sendable () async -> Bool)?>(nil)
    /// What the app's `onError` was told, as texts.
    let errors = Trace()
    /// The steps of runs, in order.
    let trace = Trace()
    private let scheduled: Mutex<KizunaSyncScheduler?> = Mutex(nil)

    struct Options {
        var pollInterval = 60.0
        var monitorPath = false
        var hasPath = true
        var observeForeground = false
        var tables: [String] = []
        var needsReset: (@Sendable () async -> Bool)?
        var refresh: SchedulerAssignments.Refresh?
        var usesClientSync = true
    }

    init(_ simulation: Simulation, _ configure: (inout Options) -> Void = { _ in }) {
        self.simulation = simulation
        var options = Options()
        configure(&options)
        client.sleep = { duration in try await simulation.environment.sleep(duration) }
        var ports = SchedulerRunner.Ports(client: client)
        ports.pathMonitor = options.hasPath ? path : nil
        ports.foregroundSource = options.observeForeground ? foreground : nil
        ports.realtime = realtime
        ports.topics = options.tables.map { "kizunasync:" + $0 }
        ports.jitterSource = { [self] in jitter.withLock { $0 } }
        ports.needsReset = options.needsReset
        var assigned = SchedulerAssignments(
            pollInterval: options.pollInterval, monitorPath: options.monitorPath,
            refreshSession: options.refresh
                ?? .plain { [self] in
                    trace.add("refresh")
                    guard let refresh = refresh.withLock({ $0 }) else { return true }
                    return await refresh()
                })
        assigned.onError = { [self] in errors.add(($0 as? SyncError)?.code.rawValue ?? "\($0)") }
        let scheduler = KizunaSyncScheduler(
            ports: ports, assigned: assigned, environment: simulation.environment)
        client.onSync = { [self] in trace.add("sync") }
        scheduled.withLock { $0 = scheduler }
    }

    var scheduler: KizunaSyncScheduler {
        guard let scheduler = scheduled.withLock({ $0 }) else { preconditionFailure("the rig was let go of") }
        return scheduler
    }

    /// Breaks the cycle and lets go of the scheduler.
    func letGo() { scheduled.withLock { $0 = nil } }

    var health: KizunaSyncHealth { scheduler.health() }
    var runs: Int { client.syncs }

    /// Lets the scheduler run into a failure.
    func fail(_ error: any Error = SyncError(.connectivity, "no way")) async {
        client.outcome = { throw error }
        scheduler.wake()
        await simulation.settle()
    }

    func succeed() async {
        client.outcome = {}
        scheduler.wake()
        await simulation.settle()
    }

    /// Seconds from now until the timer fires; nil where none is set.
    var wait: Double? {
        health.nextAttemptAt.map { (($0.timeIntervalSince(simulation.wallClock)) * 1000).rounded() / 1000 }
    }

    /// Every health told to a listener, from now on.
    func healths() -> HealthLog {
        let log = HealthLog()
        scheduler.onHealth { log.add($0) }
        return log
    }
}

final class HealthLog: Sendable {
    private let state = Mutex<[KizunaSyncHealth]>([])

    var all: [KizunaSyncHealth] { state.withLock { $0 } }
    var phases: [KizunaSyncHealth.Phase] {
        all.map(\.phase).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    func add(_ health: KizunaSyncHealth) { state.withLock { $0.append(health) } }
}

/// A client whose sync does what the test says.
final class FakeSchedulerClient: SchedulerClient {
    private struct State {
        var syncs = 0
        var asked: [Bool] = []
        var active = 0
        var mostActive = 0
        var depth = 0
        var handlers: [Int: @Sendable (SchedulerClientEvent) -> Void] = [:]
        var subscribed = 0
        var cancelled: [Int] = []
        var rejection: (any Error)?
        var outcome: @Sendable () async throws -> Void = {}
        var onSync: @Sendable () -> Void = {}
        var sleep: @Sendable (Duration) async throws -> Void = { _ in }
        var isReplaced = false
    }

    private let state = Mutex(State())

    var syncs: Int { state.withLock { $0.syncs } }
    /// For each sync whether it was to ask for what others changed.
    var asked: [Bool] { state.withLock { $0.asked } }
    var mostActive: Int { state.withLock { $0.mostActive } }
    var subscriptions: Int { state.withLock { $0.subscribed } }
    var cancelled: [Int] { state.withLock { $0.cancelled } }
    var outcome: @Sendable () async throws -> Void {
        get { state.withLock { $0.outcome } }
        set { state.withLock { $0.outcome = newValue } }
    }
    var onSync: @Sendable () -> Void {
        get { state.withLock { $0.onSync } }
        set { state.withLock { $0.onSync = newValue } }
    }
    var sleep: @Sendable (Duration) async throws -> Void {
        get { state.withLock { $0.sleep } }
        set { state.withLock { $0.sleep = newValue } }
    }
    var rejection: (any Error)? {
        get { state.withLock { $0.rejection } }
        set { state.withLock { $0.rejection = newValue } }
    }

    func sync(asksReads: Bool) async throws {
        let (outcome, onSync) = state.withLock { state in
            state.syncs += 1
            state.asked.append(asksReads)
            state.active += 1
            state.mostActive = max(state.mostActive, state.active)
            return (state.outcome, state.onSync)
        }
        defer { state.withLock { $0.active -= 1 } }
        onSync()
        try await outcome()
    }

    func outboxDepth() async throws -> Int { state.withLock { $0.depth } }

    func subscribe(
        _ handler: @escaping @Sendable (SchedulerClientEvent) -> Void
    ) async throws -> SchedulerSubscription {
        try state.withLock { state in
            if let rejection = state.rejection { throw rejection }
            state.subscribed += 1
            let id = state.subscribed
            state.handlers[id] = handler
            return SchedulerSubscription { [self] in cancel(id) }
        }
    }

    private func cancel(_ id: Int) {
        state.withLock { state in
            state.handlers[id] = nil
            state.cancelled.append(id)
        }
    }

    /// Sets the depth before anybody subscribes, without an event.
    func setDepth(_ depth: Int) { state.withLock { $0.depth = depth } }

    /// Raises the event that a write or a verdict raises.
    func tell(depth: Int) {
        let handlers = state.withLock { state in
            state.depth = depth
            return Array(state.handlers.values)
        }
        for handler in handlers { handler(.queueDepth(depth)) }
    }

    /// The handlers as they are now, to call them after they were let go of.
    var handlers: [@Sendable (SchedulerClientEvent) -> Void] { state.withLock { Array($0.handlers.values) } }

    /// What `create(_:)` called again does.
    func replaceEngine() {
        let handlers = state.withLock { state in
            defer { state.handlers = [:] }
            return Array(state.handlers.values)
        }
        for handler in handlers { handler(.engineReplaced) }
    }
}

final class FakePathMonitor: KizunaSyncPathMonitor {
    private let state = Mutex<(handler: (@Sendable (Bool) -> Void)?, last: (@Sendable (Bool) -> Void)?, log: [String])>(
        (nil, nil, []))

    var log: [String] { state.withLock { $0.log } }

    func start(onSatisfied: @escaping @Sendable (Bool) -> Void) {
        state.withLock { state in
            state.handler = onSatisfied
            state.last = onSatisfied
            state.log.append("start")
        }
    }

    func cancel() {
        state.withLock { state in
            state.handler = nil
            state.log.append("cancel")
        }
    }

    func report(_ isSatisfied: Bool) { state.withLock { $0.handler }?(isSatisfied) }

    /// Reports through the last handler, whether or not it was let go of.
    func reportLate(_ isSatisfied: Bool) { state.withLock { $0.last }?(isSatisfied) }
}

final class FakeForegroundSource: KizunaSyncForegroundSource {
    private let state = Mutex<(handler: (@Sendable () -> Void)?, log: [String])>((nil, []))

    var log: [String] { state.withLock { $0.log } }

    func start(onForeground: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.handler = onForeground
            state.log.append("start")
        }
    }

    func stop() { state.withLock { $0.log.append("stop") } }

    func report() { state.withLock { $0.handler }?() }
}

final class FakeRealtime: KizunaSyncRealtimeWakeup {
    private struct Subscription: KizunaSyncRealtimeSubscription {
        let onCancel: @Sendable () -> Void
        func cancel() { onCancel() }
    }

    private let state = Mutex<(handler: (@Sendable () -> Void)?, log: [String])>((nil, []))

    var log: [String] { state.withLock { $0.log } }

    func subscribe(
        topics: [String], onWake: @escaping @Sendable () -> Void
    ) -> any KizunaSyncRealtimeSubscription {
        state.withLock { state in
            state.handler = onWake
            state.log.append(topics.joined(separator: " "))
        }
        return Subscription { [self] in state.withLock { $0.log.append("cancel") } }
    }

    func ring() { state.withLock { $0.handler }?() }
}
