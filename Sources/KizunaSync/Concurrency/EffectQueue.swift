/// Keeps what a machine said in the order it was said, whichever threads step it: one thread at a time performs.
///
/// Without it, two threads that step at once could perform "cancel the timer" before "start the timer".
package struct EffectQueue<Effect: Sendable>: Sendable {
    private var waiting: [Effect] = []
    private var isBeingPerformed = false

    package init() {}

    /// Adds effects; answers whether the caller has to perform what waits, until `next()` gives nothing.
    package mutating func add(_ effects: [Effect]) -> Bool {
        append(effects)
        return !waiting.isEmpty && claim()
    }

    /// Adds effects that somebody will claim later.
    mutating func append(_ effects: [Effect]) { waiting += effects }

    /// Makes the caller the one who performs, until `next()` gives nothing; false where somebody is at it.
    mutating func claim() -> Bool {
        guard !isBeingPerformed else { return false }
        isBeingPerformed = true
        return true
    }

    /// The next effect to perform; nil ends the caller's turn.
    package mutating func next() -> Effect? {
        guard !waiting.isEmpty else {
            isBeingPerformed = false
            return nil
        }
        return waiting.removeFirst()
    }
}
