#if canImport(CSoup)
    internal import CSoup
    internal import Synchronization

    /// Reports whether the network is available, from GIO's monitor: a default route, or the state of NetworkManager if
    /// it runs.
    package final class PlatformPathMonitor: Sendable {
        private let watch = Mutex<PathWatch?>(nil)

        package init() {}

        deinit { cancel() }

        /// Starts reporting on GLib's thread: the current state, then each change.
        package func start(onSatisfied: @escaping @Sendable (Bool) -> Void) {
            let started = PathWatch(onSatisfied)
            replace(with: started)?.end()
            GLibLoop.shared.perform { started.begin() }
        }

        /// Stops reporting.
        package func cancel() { replace(with: nil)?.end() }

        private func replace(with next: PathWatch?) -> PathWatch? {
            watch.withLock { watch in
                defer { watch = next }
                return watch
            }
        }
    }

    /// One listener of GIO's monitor, from start to cancel.
    // Safe because the handler's id and the last report are used on GLib's thread only, the other members are constant.
    private final class PathWatch: @unchecked Sendable {
        private let onSatisfied: @Sendable (Bool) -> Void
        private let isOver = Atomic(false)
        private var handlerID: gulong = 0
        private var lastReport: Bool?

        init(_ onSatisfied: @escaping @Sendable (Bool) -> Void) { self.onSatisfied = onSatisfied }

        /// Runs on GLib's thread: the monitor reports on the thread on which it was created.
        func begin() {
            guard !isOver.load(ordering: .acquiring), let monitor = g_network_monitor_get_default() else { return }
            let changed: @convention(c) (OpaquePointer?, gboolean, gpointer?) -> Void = { _, isAvailable, pointer in
                guard let pointer else { return }
                Unmanaged<PathWatch>.fromOpaque(pointer).takeUnretainedValue().report(isAvailable != 0)
            }
            handlerID = g_signal_connect_data(
                UnsafeMutableRawPointer(monitor), "network-changed", unsafeBitCast(changed, to: GCallback.self),
                Unmanaged.passRetained(self).toOpaque(),
                { pointer, _ in if let pointer { Unmanaged<PathWatch>.fromOpaque(pointer).release() } },
                GConnectFlags(rawValue: 0))
            report(g_network_monitor_get_network_available(monitor) != 0)
        }

        func end() {
            isOver.store(true, ordering: .releasing)
            GLibLoop.shared.perform { [self] in
                guard handlerID != 0, let monitor = g_network_monitor_get_default() else { return }
                g_signal_handler_disconnect(UnsafeMutableRawPointer(monitor), handlerID)
                handlerID = 0
            }
        }

        /// GIO also reports changes of addresses that do not change the availability.
        private func report(_ isAvailable: Bool) {
            guard !isOver.load(ordering: .acquiring), lastReport != isAvailable else { return }
            lastReport = isAvailable
            onSatisfied(isAvailable)
        }
    }
#endif
