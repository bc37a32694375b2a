internal import Synchronization

/// Runs pieces of work one at a time, in the order in which they were added, on the threads that add them.
///
/// Whoever finds it idle runs what is there, also what others add meanwhile; the others go on at once. No lock is held
/// while a piece runs, so it may add further ones.
final class SerialWork: Sendable {
    private struct State {
        var pending: [@Sendable () -> Void] = []
        var isBusy = false
    }

    private let state = Mutex(State())

    func add(_ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.pending.append(work) }
    }

    /// Runs what is there. Returns at once, with false, where it is being run already.
    @discardableResult
    func drain() -> Bool {
        var work = take(first: true)
        guard work != nil else { return false }
        while let batch = work {
            for each in batch { each() }
            work = take(first: false)
        }
        return true
    }

    private func take(first: Bool) -> [@Sendable () -> Void]? {
        state.withLock { state in
            if first {
                guard !state.isBusy else { return nil }
                state.isBusy = true
            } else if state.pending.isEmpty {
                state.isBusy = false
                return nil
            }
            defer { state.pending = [] }
            return state.pending
        }
    }
}
