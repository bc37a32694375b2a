internal import Synchronization

/// Holds the cancel actions of running work by key. `TimerSet` and `TaskSet` are built on it.
///
/// Work may end before `add` returns, may be cancelled while it is being started, or may be replaced under the same key: each
/// start has a number of its own, so an ended or replaced start never removes the entry of a later one.
final class TicketTable<Key: Hashable & Sendable>: Sendable {
    typealias CancelAction = @Sendable () -> Void

    private struct Entry {
        let start: Int
        var cancel: CancelAction?
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var lastStart = 0
        /// Starts that were cancelled before their cancel action was known.
        var cancelledEarly: Set<Int> = []
        var isClosed = false

        mutating func remove(_ key: Key) -> CancelAction? {
            guard let entry = entries.removeValue(forKey: key) else { return nil }
            if entry.cancel == nil { cancelledEarly.insert(entry.start) }
            return entry.cancel
        }
    }

    private let state = Mutex(State())

    /// The number of starts that have neither ended nor been cancelled.
    var count: Int { state.withLock { $0.entries.count } }

    /// Starts work under a key and cancels the work that held the key. Starts nothing after `close`.
    ///
    /// `start` receives a closure that removes the entry and returns whether the work still held it. It returns the action that
    /// cancels the work.
    func add(_ key: Key, start: (_ remove: @escaping @Sendable () -> Bool) -> CancelAction) {
        let reserved = state.withLock { state -> (start: Int, replaced: CancelAction?)? in
            guard !state.isClosed else { return nil }
            let replaced = state.remove(key)
            state.lastStart += 1
            state.entries[key] = Entry(start: state.lastStart)
            return (state.lastStart, replaced)
        }
        guard let (number, replaced) = reserved else { return }
        replaced?()
        let action = start { [self] in end(key, number) }
        let isCancelled = state.withLock { state in
            if state.entries[key]?.start == number { state.entries[key]?.cancel = action }
            return state.cancelledEarly.remove(number) != nil
        }
        // Not called for work that has ended: the task of a timer may still run the closure of the timer.
        if isCancelled { action() }
    }

    func cancel(_ key: Key) {
        state.withLock { $0.remove(key) }?()
    }

    func cancelAll() {
        let actions = state.withLock { state in state.entries.keys.compactMap { state.remove($0) } }
        for action in actions { action() }
    }

    /// Cancels all work; later calls of `add` start nothing.
    func close() {
        state.withLock { $0.isClosed = true }
        cancelAll()
    }

    private func end(_ key: Key, _ number: Int) -> Bool {
        state.withLock { state in
            guard state.entries[key]?.start == number else { return false }
            state.entries[key] = nil
            return true
        }
    }
}
