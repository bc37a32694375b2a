internal import Synchronization

/// Holds the newest value for one reader who takes values at a speed of its own: state, not events.
package final class LatestValueChannel<Value: Sendable>: Sendable {
    private struct State {
        var latest: Value?
        var end: Result<Void, any Error>?
        var waiter: CheckedContinuation<Value?, any Error>?
    }

    private let state = Mutex(State())

    package init() {}

    /// Replaces whatever has not been taken yet.
    package func put(_ value: Value) {
        let waiter: CheckedContinuation<Value?, any Error>? = state.withLock { state in
            guard state.end == nil else { return nil }
            guard let waiter = state.waiter else {
                state.latest = value
                return nil
            }
            state.waiter = nil
            return waiter
        }
        waiter?.resume(returning: value)
    }

    /// Ends the sequence after the value that waits, if any.
    package func finish(_ end: Result<Void, any Error> = .success(())) {
        let waiter = state.withLock { state -> CheckedContinuation<Value?, any Error>? in
            guard state.end == nil else { return nil }
            // Whoever waits is told of a failure; after that the sequence is at its end.
            state.end = state.waiter == nil ? end : .success(())
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(with: end.map { nil })
    }

    /// The newest value not taken yet, or the next one; nil at the end. One reader at a time.
    package func next() async throws -> Value? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let ready = state.withLock { state -> Result<Value?, any Error>? in
                    if let latest = state.latest {
                        state.latest = nil
                        return .success(latest)
                    }
                    if let end = state.end {
                        state.end = .success(())
                        return end.map { nil }
                    }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    precondition(state.waiter == nil, "LatestMailbox: two readers")
                    state.waiter = continuation
                    return nil
                }
                if let ready { continuation.resume(with: ready) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume(throwing: CancellationError())
        }
    }
}
