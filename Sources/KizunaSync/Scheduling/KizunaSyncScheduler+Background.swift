internal import KizunaTransport

extension KizunaSyncScheduler {
    /// Which kind of background run the system is asked for.
    public enum BackgroundRun: Sendable, CaseIterable {
        /// Some seconds, often: `BGAppRefreshTask`.
        case refresh
        /// Minutes, seldom, with the network there: `BGProcessingTask`.
        case processing

        var kind: BackgroundTaskKind {
            switch self {
            case .refresh: .refresh
            case .processing: .processing
            }
        }
    }

    /// Takes on the system's background runs of an identifier: each asks for the next one, syncs once, and tells the
    /// system that it finished only when the run succeeded and no write is left.
    ///
    /// Call it before the app has finished launching, with an identifier listed under
    /// `BGTaskSchedulerPermittedIdentifiers`, and `requestBackgroundRun` when the app goes to the background. When the
    /// system wants the time back the run is called off and reported as not finished; what waits goes on waiting.
    ///
    /// - Parameters:
    ///   - identifier: the task's identifier.
    ///   - run: the kind of run.
    ///   - interval: the shortest time between two runs.
    /// - Returns: Whether the system took it: false on macOS, watchOS and Linux, and for an identifier that is not
    ///   permitted.
    @discardableResult
    public func registerBackgroundRun(
        _ identifier: String, _ run: BackgroundRun = .refresh, every interval: Duration = .seconds(900)
    ) -> Bool {
        PlatformBackground.register(identifier) { [weak self] grant in
            guard let self else { return grant.complete(isFinished: false) }
            do {
                try requestBackgroundRun(identifier, run, after: interval)
            } catch {
                // The next time in the background asks again; this run is good all the same.
            }
            backgroundDrain.use(grant)
        }
    }

    /// Asks the system for a background run.
    ///
    /// - Parameters:
    ///   - identifier: the task's identifier, taken on with `registerBackgroundRun`.
    ///   - run: the kind of run.
    ///   - delay: the shortest time until it.
    /// - Throws: The system's refusal; `SyncError` with code `invalid_configuration` where there are no such runs.
    public func requestBackgroundRun(
        _ identifier: String, _ run: BackgroundRun = .refresh, after delay: Duration = .seconds(900)
    ) throws {
        try PlatformBackground.request(identifier, run.kind, after: delay)
    }

    /// What a granted run does.
    package var backgroundDrain: BackgroundDrain {
        BackgroundDrain(environment: environment) { [weak self] in
            guard let self else { return false }
            return await runAndLookWhetherDone()
        } callOff: { [weak self] in
            self?.callOff()
        }
    }
}
