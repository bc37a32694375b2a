internal import KizunaCore

/// What an app may assign to its scheduler at any time, as it was assigned.
package struct SchedulerAssignments: Sendable {
    /// The refresh in whichever of its two forms the app gave it.
    package enum Refresh: Sendable {
        case plain(@Sendable () async -> Bool)
        case detailed(@Sendable () async -> SessionRefresh)

        func outcome() async -> SchedulerMachine.SessionOutcome {
            switch self {
            case .plain(let refresh): await refresh() ? .ready : .rejected
            case .detailed(let refresh):
                switch await refresh() {
                case .ready: .ready
                case .signedOut: .signedOut
                case .failed(let error): .failed(SchedulerFailure(error))
                }
            }
        }
    }

    package var pollInterval: Double
    package var monitorPath: Bool
    package var runDeadline = Duration.seconds(120)
    package var stallAfter: Duration?
    package var refreshSession: Refresh
    package var sync: (@Sendable () async throws -> Void)?
    package var onError: (@Sendable (any Error) -> Void)?

    package init(pollInterval: Double, monitorPath: Bool, refreshSession: Refresh) {
        self.pollInterval = pollInterval
        self.monitorPath = monitorPath
        self.refreshSession = refreshSession
    }

    /// The poll interval as the machine takes it: no timer for what is no time to wait.
    var interval: Duration { Self.interval(pollInterval) }

    static func interval(_ seconds: Double) -> Duration {
        seconds > 0 && seconds.isFinite ? .seconds(min(seconds, 315_360_000)) : .zero
    }
}
