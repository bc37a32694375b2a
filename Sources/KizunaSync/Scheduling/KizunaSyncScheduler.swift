package import KizunaCore
internal import KizunaTransport

/// The loop that drives one client: it refreshes the session and then syncs, at start, after local writes, on a timer,
/// when the network comes back and when the app comes to the front.
///
/// ```swift
/// let syncScheduler = KizunaSyncScheduler(
///   client: kizunasync,
///   refreshSession: {
///     guard let session = try? await supabase.auth.session else { return false }
///     try? await kizunasync.setAccessToken(session.accessToken)
///     return true
///   }
/// )
/// syncScheduler.start()
/// ```
///
/// Build one beside the client, start it after `create(_:)`, and stop it when the client is torn down; letting go of it
/// stops it too. Every method may be called from any thread. No main run loop is needed. Runs never overlap. The app's
/// closures are called with no lock held; `onError` and the handlers of `onHealth(_:)` one at a time and in order.
///
/// Offline: nothing runs while the network path is not satisfied; its return is a wake of its own.
///
/// See docs/spec/scheduling.md, Role.
public final class KizunaSyncScheduler: Sendable {
    private let runner: SchedulerRunner

    /// Makes a scheduler that does nothing until `start()`.
    ///
    /// - Parameters:
    ///   - client: the client to drive.
    ///   - pollInterval: seconds between polls of a healthy loop, the longest of them; zero or less polls never.
    ///   - monitorPath: whether runs wait for a satisfied network path.
    ///   - pathMonitor: tells of the network path; nil takes the platform's.
    ///   - observeForeground: whether the app's return to the front is a wake.
    ///   - foregroundSource: tells of the app's return to the front; nil takes the platform's, where it has one.
    ///   - realtime: the app's Realtime channel, as a doorbell.
    ///   - realtimeTables: the tables to listen for; none subscribes to nothing.
    ///   - refreshSession: refreshes the session and hands its token over, before every run; false skips the run.
    ///   - sync: what a run does; nil calls the client's `sync()`.
    ///   - onError: told each error of a run and of the subscription to the client's events.
    ///   - jitterSource: a fraction in [0, 1) for each setting of the timer; nil draws at random.
    ///   - needsReset: asked after every run; its answer is published in the health.
    public convenience init(
        client: KizunaSyncClient,
        pollInterval: Double = 15,
        monitorPath: Bool = true,
        pathMonitor: (any KizunaSyncPathMonitor)? = nil,
        observeForeground: Bool = true,
        foregroundSource: (any KizunaSyncForegroundSource)? = nil,
        realtime: (any KizunaSyncRealtimeWakeup)? = nil,
        realtimeTables: [String] = [],
        refreshSession: @escaping @Sendable () async -> Bool,
        sync: (@Sendable () async throws -> Void)? = nil,
        onError: (@Sendable (any Error) -> Void)? = nil,
        jitterSource: (@Sendable () -> Double)? = nil,
        needsReset: (@Sendable () async -> Bool)? = nil
    ) {
        self.init(
            driving: client, pollInterval, monitorPath, pathMonitor, observeForeground, foregroundSource, realtime,
            realtimeTables, .plain(refreshSession), sync, onError, jitterSource, needsReset)
    }

    /// As the other initialiser, with a refresh that says why there is no session: a signed-out user is not asked again
    /// until `notifySession()` or another wake, and a refresh that failed is tried again with backoff.
    public convenience init(
        client: KizunaSyncClient,
        pollInterval: Double = 15,
        monitorPath: Bool = true,
        pathMonitor: (any KizunaSyncPathMonitor)? = nil,
        observeForeground: Bool = true,
        foregroundSource: (any KizunaSyncForegroundSource)? = nil,
        realtime: (any KizunaSyncRealtimeWakeup)? = nil,
        realtimeTables: [String] = [],
        refreshSession: @escaping @Sendable () async -> SessionRefresh,
        sync: (@Sendable () async throws -> Void)? = nil,
        onError: (@Sendable (any Error) -> Void)? = nil,
        jitterSource: (@Sendable () -> Double)? = nil,
        needsReset: (@Sendable () async -> Bool)? = nil
    ) {
        self.init(
            driving: client, pollInterval, monitorPath, pathMonitor, observeForeground, foregroundSource, realtime,
            realtimeTables, .detailed(refreshSession), sync, onError, jitterSource, needsReset)
    }

    /// What both public initialisers do.
    private convenience init(
        driving client: KizunaSyncClient, _ pollInterval: Double, _ monitorPath: Bool,
        _ pathMonitor: (any KizunaSyncPathMonitor)?, _ observeForeground: Bool,
        _ foregroundSource: (any KizunaSyncForegroundSource)?, _ realtime: (any KizunaSyncRealtimeWakeup)?,
        _ realtimeTables: [String], _ refresh: SchedulerAssignments.Refresh,
        _ sync: (@Sendable () async throws -> Void)?, _ onError: (@Sendable (any Error) -> Void)?,
        _ jitterSource: (@Sendable () -> Double)?, _ needsReset: (@Sendable () async -> Bool)?
    ) {
        var ports = SchedulerRunner.Ports(client: ClientPort(client))
        ports.pathMonitor = pathMonitor ?? KizunaSyncSystemPathMonitor()
        ports.foregroundSource = observeForeground ? foregroundSource ?? KizunaSyncNotificationForegroundSource() : nil
        ports.realtime = realtime
        ports.topics = realtimeTables.map { "kizunasync:" + $0 }
        ports.jitterSource = jitterSource
        ports.needsReset = needsReset
        var assigned = SchedulerAssignments(
            pollInterval: pollInterval, monitorPath: monitorPath, refreshSession: refresh)
        assigned.sync = sync
        assigned.onError = onError
        self.init(ports: ports, assigned: assigned, environment: client.environment)
    }

    /// Makes a scheduler whose outside world is given in parts.
    package init(ports: SchedulerRunner.Ports, assigned: SchedulerAssignments, environment: SyncEnvironment) {
        var settings = SchedulerMachine.Settings()
        settings.pollInterval = assigned.interval
        settings.monitorsPath = assigned.monitorPath
        runner = SchedulerRunner(settings, ports: ports, assigned: assigned, environment: environment)
    }

    deinit { runner.step(.stopped) }

    // MARK: - Running

    /// Starts the loop and asks for a first run, which obeys the path gate like any other. Does nothing while running.
    ///
    /// Call it after `create(_:)`: before, the client refuses the subscription to local writes, which `onError` is told;
    /// the loop goes on without it and subscribes at a later run.
    public func start() { runner.step(.started) }

    /// Stops the timer and all other wakes and lets go of their ports. A run under way goes on to its end, and one
    /// follow-up run that was asked for during it. Can be started again.
    public func stop() { runner.step(.stopped) }

    /// Asks for a run: for a Sync now button, a pull to refresh, after a sign-in or a reset. Works without `start()` too.
    ///
    /// It starts at once, or follows the one under way. A `.localWrite` keeps the distance that failed runs impose, and sends
    /// writes without asking for what others changed; a `.path` is held where it comes too often. While the path is not
    /// satisfied nothing starts; its return does.
    public func wake(reason: WakeReason = .doorbell) { runner.step(.woken(reason)) }

    /// Asks for a run and waits for its end: for `refreshable` and background work. While another run is under way, this
    /// one follows it.
    ///
    /// - Returns: Whether the run succeeded; false at once while the path is not satisfied.
    @discardableResult
    public func run() async -> Bool { await runner.runToEnd() }

    /// Says that the app came to the front; for apps that turned `observeForeground` off.
    public func notifyForeground() { runner.step(.woken(.foreground)) }

    /// Says that the network came back; for apps that turned `monitorPath` off. Three calls within 20 s each start a run at
    /// once; further ones are held and served together.
    public func notifyOnline() { runner.step(.woken(.path)) }

    /// Says that the session changed: ends the wait after a refresh that found nobody signed in.
    public func notifySession() { runner.step(.woken(.session)) }

    // MARK: - Health

    /// How the loop stands.
    public func health() -> KizunaSyncHealth { runner.health }

    /// Calls the handler with the present health, then with each change, in order and never twice at a time.
    ///
    /// - Parameter handler: called from the thread that caused the change; keep it short.
    /// - Returns: A closure that ends the calls. It need not be kept.
    @discardableResult
    public func onHealth(_ handler: @escaping @Sendable (KizunaSyncHealth) -> Void) -> @Sendable () -> Void {
        let id = runner.addListener(handler)
        return { [weak runner] in runner?.removeListener(id) }
    }

    /// Moves the path gate by hand, as a monitor's report would.
    package func reportPath(_ isSatisfied: Bool) { runner.step(.pathForced(isSatisfied: isSatisfied)) }

    /// Runs once; says whether that succeeded and no write is left.
    package func runAndLookWhetherDone() async -> Bool { await runner.runAndLookWhetherDone() }

    /// Calls the run under way off, without counting it as failed.
    package func callOff() { runner.step(.runCalledOff) }

    /// The outside world this scheduler runs in.
    package var environment: SyncEnvironment { runner.environment }
}

// MARK: - What may be assigned later

extension KizunaSyncScheduler {
    /// Seconds between polls of a healthy loop, the longest of them: each is drawn from the upper half. Zero or less
    /// polls never. Assigning restarts a running timer; the next poll is then a full interval away.
    public var pollInterval: Double {
        get { runner.assigned.pollInterval }
        set {
            runner.assign { assigned in
                assigned.pollInterval = newValue
                return .pollIntervalSet(SchedulerAssignments.interval(newValue))
            }
        }
    }

    /// Whether runs wait for a satisfied network path. Turning it off opens the gate, and wakes a run if it was shut.
    public var monitorPath: Bool {
        get { runner.assigned.monitorPath }
        set {
            runner.assign { assigned in
                assigned.monitorPath = newValue
                return .monitorPathSet(newValue)
            }
        }
    }

    /// Refreshes the session before every run; false skips the run. Assigning restarts a running timer.
    public var refreshSession: @Sendable () async -> Bool {
        get {
            switch runner.assigned.refreshSession {
            case .plain(let refresh): refresh
            case .detailed(let refresh):
                { if case .ready = await refresh() { true } else { false } }
            }
        }
        set {
            runner.assign { assigned in
                assigned.refreshSession = .plain(newValue)
                return .refreshReplaced
            }
        }
    }

    /// What a run does after the session is refreshed; nil is the client's `sync()`.
    public var sync: (@Sendable () async throws -> Void)? {
        get { runner.assigned.sync }
        set {
            runner.assign { assigned in
                assigned.sync = newValue
                return nil
            }
        }
    }

    /// Told each error of a run and of the subscription to the client's events; nil drops them.
    public var onError: (@Sendable (any Error) -> Void)? {
        get { runner.assigned.onError }
        set {
            runner.assign { assigned in
                assigned.onError = newValue
                return nil
            }
        }
    }

    /// How long the refresh and the sync of a run may take together, 120 s unless assigned, never less than 1 s. A run
    /// that takes longer is cancelled and counts as failed.
    public var runDeadline: Duration {
        get { runner.assigned.runDeadline }
        set {
            runner.assign { assigned in
                assigned.runDeadline = newValue
                return .limitsSet(runDeadline: newValue, stallAfter: assigned.stallAfter)
            }
        }
    }

    /// The age at which a run is called stalled; nil, as long as nothing is assigned, is two poll intervals and at least
    /// 30 s.
    public var stallAfter: Duration? {
        get { runner.assigned.stallAfter }
        set {
            runner.assign { assigned in
                assigned.stallAfter = newValue
                return .limitsSet(runDeadline: assigned.runDeadline, stallAfter: newValue)
            }
        }
    }
}
