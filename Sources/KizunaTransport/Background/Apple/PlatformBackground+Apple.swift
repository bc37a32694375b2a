#if canImport(BackgroundTasks) && !os(macOS)
    internal import BackgroundTasks
    internal import Foundation
    internal import KizunaCore

    /// The system's background runs.
    package enum PlatformBackground {
        /// Registers a handler for the runs of an identifier, before the app has finished launching. Returns false if
        /// the app does not permit the identifier.
        package static func register(
            _ identifier: String, onGrant: @escaping @Sendable (any BackgroundGrant) -> Void
        ) -> Bool {
            BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: nil) { task in
                onGrant(SystemGrant(task))
            }
        }

        /// Requests a run after at least this delay.
        package static func request(_ identifier: String, _ kind: BackgroundTaskKind, after delay: Duration) throws {
            let request: BGTaskRequest
            switch kind {
            case .refresh: request = BGAppRefreshTaskRequest(identifier: identifier)
            case .processing:
                let processing = BGProcessingTaskRequest(identifier: identifier)
                processing.requiresNetworkConnectivity = true
                processing.requiresExternalPower = false
                request = processing
            }
            request.earliestBeginDate = Date(timeIntervalSinceNow: delay.seconds)
            try BGTaskScheduler.shared.submit(request)
        }
    }

    /// A granted run, as a system task.
    // Safe because any thread may make both calls, and the task has no other use.
    private final class SystemGrant: BackgroundGrant, @unchecked Sendable {
        private let task: BGTask

        init(_ task: BGTask) { self.task = task }

        func onExpiration(_ handler: @escaping @Sendable () -> Void) { task.expirationHandler = handler }

        func complete(isFinished: Bool) { task.setTaskCompleted(success: isFinished) }
    }
#endif
