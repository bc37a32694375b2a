#if canImport(Network)
    internal import Dispatch
    internal import Network
    internal import Synchronization

    /// Reports whether the network path is satisfied, from `NWPathMonitor`.
    ///
    /// A cancelled monitor cannot start again, so each start creates a new one; reports of previous ones are ignored.
    package final class PlatformPathMonitor: Sendable {
        private let armed = Mutex<ArmedMonitor?>(nil)

        package init() {}

        deinit { cancel() }

        /// Starts reporting: the current state, then each change.
        package func start(onSatisfied: @escaping @Sendable (Bool) -> Void) {
            let next = ArmedMonitor()
            replace(with: next)?.monitor.cancel()
            next.monitor.pathUpdateHandler = { [weak self, weak next] path in
                guard let self, let next, self.isArmed(next) else { return }
                onSatisfied(path.status == .satisfied)
            }
            next.monitor.start(queue: DispatchQueue(label: "kizuna.path"))
        }

        /// Stops reporting.
        package func cancel() { replace(with: nil)?.monitor.cancel() }

        private func replace(with next: ArmedMonitor?) -> ArmedMonitor? {
            armed.withLock { armed in
                defer { armed = next }
                return armed
            }
        }

        private func isArmed(_ candidate: ArmedMonitor) -> Bool {
            armed.withLock { $0 === candidate }
        }
    }

    /// A monitor from start to cancel.
    // Safe because it is configured before it is started, and any thread may cancel it.
    private final class ArmedMonitor: @unchecked Sendable {
        let monitor = NWPathMonitor()
    }
#endif
