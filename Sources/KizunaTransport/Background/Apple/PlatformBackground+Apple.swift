#if canImport(BackgroundTasks) && !os(macOS)
    internal import BackgroundTasks
    internal import Foundation
    internal import KizunaCore

    /// The system's background runs.
    package enum PlatformBackground {
        /// Takes on the runs of an identifier. To be called before the app has finished launching; false where the
        /// identifier is not among the app's permitted ones.
        package static func register(
            _ identifier: String, onGrant: @escaping @Sendable (any BackgroundGrant) -> Void
        ) -> Bool {
            BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: nil) { task in
                onGrant(SystemGrant(task))
            }
        }

        /// Asks the system for a run, no sooner than so long from now.
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

    /// A run of the system.
    // Safe because both calls may be made from any thread, and the task is used for nothing else.
    private final class SystemGrant: BackgroundGrant, @unchecked Sendable {
        private let task: BGTask

        init(_ task: BGTask) { self.task = task }

        func onExpiration(_ handler: @escaping @Sendable () -> Void) { task.expirationHandler = handler }

        func complete(isFinished: Bool) { task.setTaskCompleted(success: isFinished) }
    }
#endif
