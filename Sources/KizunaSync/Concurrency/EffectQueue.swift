/// Holds the effects of a machine until they are performed, in the order in which the machine returned them.
///
/// One thread at a time is the performer. Without the queue, two threads that step the machine at the same time could perform
/// "cancel the timer" before "start the timer". The queue is part of the state that the owner's mutex guards.
package struct EffectQueue<Effect: Sendable>: Sendable {
    private var waiting: [Effect] = []
    private var isBeingPerformed = false

    package init() {}

    /// Adds effects. Returns whether the caller becomes the performer, who calls `next()` until it returns nil.
    package mutating func add(_ effects: [Effect]) -> Bool {
        append(effects)
        return !waiting.isEmpty && claim()
    }

    /// Adds effects for a performer that calls `claim()` later.
    mutating func append(_ effects: [Effect]) { waiting += effects }

    /// Makes the caller the performer. Returns false if there is one.
    mutating func claim() -> Bool {
        guard !isBeingPerformed else { return false }
        isBeingPerformed = true
        return true
    }

    /// Removes and returns the next effect. With nil, the caller is no longer the performer.
    package mutating func next() -> Effect? {
        guard !waiting.isEmpty else {
            isBeingPerformed = false
            return nil
        }
        return waiting.removeFirst()
    }
}
