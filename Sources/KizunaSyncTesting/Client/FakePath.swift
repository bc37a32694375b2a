public import KizunaSync
internal import Synchronization

/// A path monitor whose state a test sets.
public final class FakePath: KizunaSyncPathMonitor {
    private struct State {
        var isSatisfied: Bool
        var listener: (@Sendable (Bool) -> Void)?
    }

    private let state: Mutex<State>

    /// Creates a monitor, by default with a satisfied path.
    public init(isSatisfied: Bool = true) { state = Mutex(State(isSatisfied: isSatisfied)) }

    /// Whether the path is satisfied. Setting it notifies the client.
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

    /// Starts reporting: the current state, then each change.
    public func start(onSatisfied: @escaping @Sendable (Bool) -> Void) {
        let isSatisfied = state.withLock { state in
            state.listener = onSatisfied
            return state.isSatisfied
        }
        onSatisfied(isSatisfied)
    }

    /// Stops reporting.
    public func cancel() {
        state.withLock { $0.listener = nil }
    }
}
