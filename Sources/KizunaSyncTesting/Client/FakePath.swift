public import KizunaSync
internal import Synchronization

/// A path monitor whose belief a test sets.
public final class FakePath: KizunaSyncPathMonitor {
    private struct State {
        var isSatisfied: Bool
        var listener: (@Sendable (Bool) -> Void)?
    }

    private let state: Mutex<State>

    /// Makes a monitor; by default it believes the network to be up.
    public init(isSatisfied: Bool = true) { state = Mutex(State(isSatisfied: isSatisfied)) }

    /// Whether the network can be used. Setting it tells the client.
    public var isSatisfied: Bool {
        get { state.withLock { $0.isSatisfied } }
        set {
            let listener = state.withLock { state in
                state.isSatisfied = newValue
                return state.listener
            }
            listener?(newValue)
        }
    }

    /// Starts to report: what it believes now, then each change.
    public func start(onSatisfied: @escaping @Sendable (Bool) -> Void) {
        let isSatisfied = state.withLock { state in
            state.listener = onSatisfied
            return state.isSatisfied
        }
        onSatisfied(isSatisfied)
    }

    /// Stops to report.
    public func cancel() {
        state.withLock { $0.listener = nil }
    }
}
