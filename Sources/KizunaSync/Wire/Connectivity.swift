internal import KizunaCore
internal import Synchronization

/// A monitor of the network path.
///
/// See docs/spec/scheduling.md, Network status.
public protocol KizunaSyncPathMonitor: AnyObject, Sendable {
    /// Starts reporting: the current state, then each change. True means that the network can be used.
    func start(onSatisfied: @escaping @Sendable (Bool) -> Void)
    /// Stops reporting. Calling it again does nothing.
    func cancel()
}

/// Holds the network state and notifies one listener of each change.
package final class Connectivity: Sendable {
    private struct State {
        var network = NetworkState()
        var listener: (@Sendable (NetworkState) -> Void)?
    }

    private let state = Mutex(State())
    private let notifier = CoalescingNotifier()
    private let monitor: (any KizunaSyncPathMonitor)?

    package init(monitor: (any KizunaSyncPathMonitor)?) { self.monitor = monitor }

    package var network: NetworkState { state.withLock { $0.network } }

    package func start(_ listener: @escaping @Sendable (NetworkState) -> Void) {
        state.withLock { $0.listener = listener }
        monitor?.start { [weak self] isSatisfied in self?.change { $0.isPathUp = isSatisfied } }
    }

    package func setEnabled(_ isEnabled: Bool) { change { $0.isEnabled = isEnabled } }

    package func stop() {
        monitor?.cancel()
        state.withLock { $0.listener = nil }
    }

    private func change(_ edit: (inout NetworkState) -> Void) {
        let hasChanged = state.withLock { state in
            let before = state.network
            edit(&state.network)
            return before != state.network
        }
        guard hasChanged else { return }
        notifier.tell {
            let (network, listener) = state.withLock { ($0.network, $0.listener) }
            listener?(network)
        }
    }
}
