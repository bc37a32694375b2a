internal import KizunaCore
internal import Synchronization

/// A result that is set once, and one task that waits for it. The first result counts; later ones are ignored.
final class PendingResponse: Sendable {
    private enum State {
        case open
        case awaited(UnsafeContinuation<WireResponse, any Error>)
        case settled(Result<WireResponse, any Error>)
    }

    private let state = Mutex(State.open)

    var isSettled: Bool {
        state.withLock { state in
            if case .settled = state { true } else { false }
        }
    }

    /// Sets the result; returns false if there was one.
    @discardableResult
    func settle(_ result: Result<WireResponse, any Error>) -> Bool {
        let before = state.withLock { state in
            let before = state
            if case .settled = before { return before }
            state = .settled(result)
            return before
        }
        switch before {
        case .open: return true
        case .awaited(let continuation):
            continuation.resume(with: result)
            return true
        case .settled: return false
        }
    }

    /// Waits for the result; throws `CancellationError` if the calling task is cancelled first.
    func value() async throws -> WireResponse {
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                let settled = state.withLock { state -> Result<WireResponse, any Error>? in
                    if case .settled(let result) = state { return result }
                    state = .awaited(continuation)
                    return nil
                }
                if let settled { continuation.resume(with: settled) }
            }
        } onCancel: {
            settle(.failure(CancellationError()))
        }
    }
}
