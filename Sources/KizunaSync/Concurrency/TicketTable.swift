internal import Synchronization

/// Holds the cancel actions of running work by key. `TimerSet` and `TaskSet` are built on it.
///
/// Work may end before `add` returns, may be cancelled while it is being started, or may be replaced under the same key: each
/// start has a number of its own, so an ended or replaced start never removes the entry of a later one.
final class TicketTable<Key: Hashable & Sendable>: Sendable {
    private struct Entry {
        let start: Int
        var cancel: (@Sendable () -> Void)?
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var lastStart = 0
        /// Starts that were cancelled before their cancel action was known.
        var cancelledEarly: Set<Int> = []
        var isClosed = false
    }

    private let state = Mutex(State())

    /// The number of started entries that have neither ended nor been cancelled.
    var count: Int { state.withLock { $0.entries.count } }

    /// Starts work under a key and cancels the work that held the key. Starts nothing after `close`.
    ///
    /// - Parameter start: Receives a closure that removes the entry and returns whether the work still held it. Returns the
    ///   action that cancels the work.
    func add(_ key: Key, start: (_ remove: @escaping @Sendable () -> Bool) -> @Sendable () -> Void) {
        let reserved = state.withLock { state -> (start: Int, replaced: Entry?)? in
            guard !state.isClosed else { return nil }
            state.lastStart += 1
            return (state.lastStart, state.entries.updateValue(Entry(start: state.lastStart), forKey: key))
        }
        guard let reserved else { return }
        if let replaced = reserved.replaced { cancel(replaced) }
        let cancel = start { [self] in remove(key, reserved.start) }
        let isCancelled = state.withLock { state in
            if state.entries[key]?.start == reserved.start { state.entries[key]?.cancel = cancel }
            return state.cancelledEarly.remove(reserved.start) != nil
        }
        // Not called for work that has ended: its task may still run the closure that the timer fired.
        if isCancelled { cancel() }
    }

    func cancel(_ key: Key) {
        if let entry = state.withLock({ $0.entries.removeValue(forKey: key) }) { cancel(entry) }
    }

    func cancelAll() {
        let entries = state.withLock { state in
            defer { state.entries = [:] }
            return state.entries
        }
        for entry in entries.values { cancel(entry) }
    }

    /// Cancels all work; later calls of `add` start nothing.
    func close() {
        state.withLock { $0.isClosed = true }
        cancelAll()
    }

    private func cancel(_ entry: Entry) {
        guard let cancel = entry.cancel else { return state.withLock { _ = $0.cancelledEarly.insert(entry.start) } }
        cancel()
    }

    private func remove(_ key: Key, _ start: Int) -> Bool {
        state.withLock { state in
            guard state.entries[key]?.start == start else { return false }
            state.entries[key] = nil
            return true
        }
    }
}
