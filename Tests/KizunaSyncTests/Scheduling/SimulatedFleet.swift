import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization

/// A server as a fleet sees it: up or down, counting what reaches it in each second.
final class FleetServer: Sendable {
    private struct State {
        var isUp = true
        var requests: [Int: Int] = [:]
    }

    private let state = Mutex(State())
    private let simulation: Simulation

    init(_ simulation: Simulation) { self.simulation = simulation }

    func setUp(_ isUp: Bool) { state.withLock { $0.isUp = isUp } }

    /// Takes one request; throws where it is not served.
    func request() async throws {
        let second = Int(simulation.elapsed.seconds)
        let isUp = state.withLock { state in
            state.requests[second, default: 0] += 1
            return state.isUp
        }
        let latency = Duration.milliseconds(Int(40 + simulation.nextRandom() % 400))
        try await simulation.environment.sleep(latency)
        if !isUp { throw SyncError(.connectivity, "The server does not answer.") }
    }

    /// Requests per second between two seconds: the most in one, and the mean.
    func load(_ from: Int, _ to: Int) -> (most: Int, mean: Double) {
        state.withLock { state in
            let counts = (from..<to).map { state.requests[$0] ?? 0 }
            return (counts.max() ?? 0, Double(counts.reduce(0, +)) / Double(max(counts.count, 1)))
        }
    }
}

/// One device of the fleet: a scheduler, a queue, a token that expires, a network that comes and goes, and sleep.
final class FleetDevice: SchedulerClient {
    private struct State {
        var depth = 0
        var isOnline = true
        var isAsleep = false
        var tokenExpiry = Duration.zero
        var handler: (@Sendable (SchedulerClientEvent) -> Void)?
        var attempts: [Duration] = []
        var lastSuccess = Duration.zero
    }

    private let state = Mutex(State())
    private let simulation: Simulation
    private let server: FleetServer
    private let path = FakePathMonitor()
    private let clock: SleepyClock
    private let box = Mutex<KizunaSyncScheduler?>(nil)

    init(_ simulation: Simulation, _ server: FleetServer, pollInterval: Double, tellsWhy: Bool) {
        self.simulation = simulation
        self.server = server
        clock = SleepyClock(simulation.clock)
        var environment = simulation.environment
        environment.clock = clock
        var ports = SchedulerRunner.Ports(client: self)
        ports.pathMonitor = path
        ports.needsReset = { false }
        let refresh: SchedulerAssignments.Refresh =
            tellsWhy
            ? .detailed { [weak self] in
                do {
                    try await self?.refreshToken()
                    return .ready
                } catch {
                    return .failed(error)
                }
            }
            : .plain { [weak self] in
                do {
                    try await self?.refreshToken()
                    return true
                } catch {
                    return false
                }
            }
        let scheduler = KizunaSyncScheduler(
            ports: ports,
            assigned: SchedulerAssignments(pollInterval: pollInterval, monitorPath: true, refreshSession: refresh),
            environment: environment)
        box.withLock { $0 = scheduler }
        scheduler.start()
        path.report(true)
    }

    var depth: Int { state.withLock { $0.depth } }
    var attempts: [Duration] { state.withLock { $0.attempts } }
    /// The most attempts in any minute and in any second between two instants.
    func busiest(_ from: Duration, _ to: Duration) -> (minute: Int, second: Int) {
        let attempts = attempts.filter { $0 >= from && $0 < to }
        func most(within window: Duration) -> Int {
            var first = 0
            var most = 0
            for (index, attempt) in attempts.enumerated() {
                while attempts[first] <= attempt - window { first += 1 }
                most = max(most, index - first + 1)
            }
            return most
        }
        return (most(within: .seconds(60)), most(within: .seconds(1)))
    }
    var lastSuccess: Duration { state.withLock { $0.lastSuccess } }
    var health: KizunaSyncHealth? { box.withLock { $0?.health() } }

    func end() {
        let scheduler = box.withLock { box in
            defer { box = nil }
            return box
        }
        scheduler?.stop()
    }

    // MARK: - What happens to it

    func write(_ count: Int) {
        for _ in 0..<count {
            let (handler, depth, isAsleep) = state.withLock { state in
                if !state.isAsleep { state.depth += 1 }
                return (state.handler, state.depth, state.isAsleep)
            }
            if !isAsleep { handler?(.queueDepth(depth)) }
        }
    }

    func setOnline(_ isOnline: Bool) {
        state.withLock { $0.isOnline = isOnline }
        path.report(isOnline)
    }

    func sleep() {
        state.withLock { $0.isAsleep = true }
        clock.sleep()
    }

    func wakeUp() {
        state.withLock { $0.isAsleep = false }
        clock.wakeUp()
        box.withLock { $0 }?.notifyForeground()
    }

    // MARK: - The client

    private func refreshToken() async throws {
        let now = simulation.elapsed
        state.withLock { $0.attempts.append(now) }
        guard now >= state.withLock({ $0.tokenExpiry }) else { return }
        try await reach()
        state.withLock { $0.tokenExpiry = simulation.elapsed + .seconds(3600) }
    }

    private func reach() async throws {
        guard state.withLock({ $0.isOnline }) else { throw SyncError(.connectivity, "no network") }
        try await server.request()
    }

    func sync(asksReads: Bool) async throws {
        try await reach()
        let (handler, hadWrites) = state.withLock { state in
            let hadWrites = state.depth > 0
            state.depth = 0
            state.lastSuccess = simulation.elapsed
            return (state.handler, hadWrites)
        }
        if hadWrites { handler?(.queueDepth(0)) }
    }

    func outboxDepth() async throws -> Int { depth }

    func subscribe(
        _ handler: @escaping @Sendable (SchedulerClientEvent) -> Void
    ) async throws -> SchedulerSubscription {
        state.withLock { $0.handler = handler }
        return SchedulerSubscription { [self] in state.withLock { $0.handler = nil } }
    }
}
