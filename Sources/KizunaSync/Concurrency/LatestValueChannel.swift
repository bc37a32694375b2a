internal import Synchronization

/// Holds the newest value for one reader. A slow reader misses older values: the values are states, not events.
package final class LatestValueChannel<Value: Sendable>: Sendable {
    private struct State {
        var latest: Value?
        var end: Result<Void, any Error>?
        var waiter: CheckedContinuation<Value?, any Error>?
    }

    private let state = Mutex(State())

    package init() {}

    /// Replaces the value that the reader has not taken yet.
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

    /// Ends the sequence after the value that the reader has not taken yet, if there is one.
    package func finish(_ end: Result<Void, any Error> = .success(())) {
        let waiter = state.withLock { state -> CheckedContinuation<Value?, any Error>? in
            guard state.end == nil else { return nil }
            // A failure is thrown once, here to the reader that waits; then the sequence ends.
            state.end = state.waiter == nil ? end : .success(())
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(with: end.map { nil })
    }

    /// Returns the newest value that was not taken yet, or waits for the next one. Returns nil at the end. One reader at a time.
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
                    precondition(state.waiter == nil, "LatestValueChannel: two readers")
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
