internal import KizunaCore
internal import Synchronization

/// Holds the registered listeners in the order of their registration.
final class ListenerRegistry: Sendable {
    private struct State {
        var listeners: [(id: Int, listener: any EngineListener)] = []
        var last = 0
        var isClosed = false
    }

    private let state = Mutex(State())

    /// The listeners at this moment; they are called without the lock.
    var listeners: [any EngineListener] { state.withLock { $0.listeners.map(\.listener) } }

    /// Registers a listener. Throws `closed` after `removeAll()`.
    func add(_ listener: any EngineListener) throws(SyncError) -> Int {
        let id = state.withLock { state -> Int? in
            guard !state.isClosed else { return nil }
            state.last += 1
            state.listeners.append((state.last, listener))
            return state.last
        }
        guard let id else { throw SyncError(.closed, "The client is closed.") }
        return id
    }

    func remove(_ id: Int) { state.withLock { state in state.listeners.removeAll { $0.id == id } } }

    /// Removes and returns all listeners; none can be added any more.
    func removeAll() -> [any EngineListener] {
        state.withLock { state in
            defer { state = State(isClosed: true) }
            return state.listeners.map(\.listener)
        }
    }
}
