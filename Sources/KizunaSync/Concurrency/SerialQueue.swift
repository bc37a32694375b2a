internal import Synchronization

/// Runs pieces of work one at a time, in the order in which they were added, on the threads that add them.
///
/// Whoever finds it idle runs what is there, also what others add meanwhile; the others go on at once. No lock is held
/// while a piece runs, so it may add further ones.
final class SerialQueue: Sendable {
    private let effectQueue = Mutex(EffectQueue<@Sendable () -> Void>())

    func add(_ work: @escaping @Sendable () -> Void) {
        effectQueue.withLock { $0.append([work]) }
    }

    /// Runs what is there. Returns at once, with false, where it is being run already.
    @discardableResult
    func drain() -> Bool {
        guard effectQueue.withLock({ $0.claim() }) else { return false }
        while let work = effectQueue.withLock({ $0.next() }) { work() }
        return true
    }
}
