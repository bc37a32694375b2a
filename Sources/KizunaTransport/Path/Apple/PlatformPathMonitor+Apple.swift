#if canImport(Network)
    internal import Dispatch
    internal import Network
    internal import Synchronization

    /// Reports whether the network path is satisfied, by the platform's own monitor.
    ///
    /// A monitor that was cancelled cannot start again, so each start makes a new one; a report of an old one is dropped.
    package final class PlatformPathMonitor: Sendable {
        private let monitor = Mutex<NWPathMonitor?>(nil)

        package init() {}

        deinit { cancel() }

        /// Starts reporting: the present state first, then each change.
        package func start(onSatisfied: @escaping @Sendable (Bool) -> Void) {
            let started = NWPathMonitor()
            replace(with: started)?.cancel()
            started.pathUpdateHandler = { [weak self, weak started] path in
                guard let self, let started, self.isCurrent(started) else { return }
                onSatisfied(path.status == .satisfied)
            }
            started.start(queue: DispatchQueue(label: "kizuna.path"))
        }

        /// Stops reporting.
        package func cancel() { replace(with: nil)?.cancel() }

        private func replace(with next: NWPathMonitor?) -> NWPathMonitor? {
            monitor.withLock { monitor in
                defer { monitor = next }
                return monitor
            }
        }

        private func isCurrent(_ candidate: NWPathMonitor) -> Bool {
            monitor.withLock { $0 === candidate }
        }
    }
#endif
