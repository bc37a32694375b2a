internal import Dispatch
internal import KizunaCore
internal import Synchronization

/// One request under way: what has come of its answer, and the one task that waits for it.
///
/// *Threads:* the platform reports on its own thread, the deadline and the caller's cancellation come from others;
/// what settles the exchange first counts.
final class Exchange: Sendable {
    private enum Outcome {
        case open
        case awaited(CheckedContinuation<WireResponse, any Error>)
        case settled(Result<WireResponse, any Error>)
    }

    private struct State {
        var head: WireResponse?
        var mustBeFramed = false
        var body: [UInt8] = []
        var mayHaveLeft: Bool
        var outcome = Outcome.open
    }

    private static let deadlines = DispatchQueue(label: "kizuna.transport.deadlines")

    let request: WireRequest
    private let maximumBodyBytes: Int
    private let state: Mutex<State>

    /// - Parameters:
    ///   - request: What is sent.
    ///   - maximumBodyBytes: The largest body that is taken.
    ///   - mayHaveLeft: False where the platform reports through `requestLeft()` when the first byte goes out.
    init(_ request: WireRequest, maximumBodyBytes: Int, mayHaveLeft: Bool) {
        self.request = request
        self.maximumBodyBytes = maximumBodyBytes
        state = Mutex(State(mayHaveLeft: mayHaveLeft))
    }

    /// The answer, once it is whole; ends with the request's deadline or the caller's cancellation.
    func response() async throws -> WireResponse {
        let deadline = DispatchWorkItem { [self] in settle(.failure(failure("timed out"))) }
        Self.deadlines.asyncAfter(deadline: .now() + request.timeout.seconds, execute: deadline)
        defer { deadline.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let settled = state.withLock { state -> Result<WireResponse, any Error>? in
                    if case .settled(let result) = state.outcome { return result }
                    state.outcome = .awaited(continuation)
                    return nil
                }
                if let settled { continuation.resume(with: settled) }
            }
        } onCancel: {
            settle(.failure(CancellationError()))
        }
    }

    /// Whether the request may still leave.
    var mayLeave: Bool { request.leavesBefore.map { HostProcess.live.sinceBoot() < $0 } ?? true }

    /// A failure that says of the request's fate what is known by now.
    func failure(_ reason: String) -> WireFailure {
        WireFailure(state.withLock { $0.mayHaveLeft } ? .outcomeUnknown : .notSent, reason)
    }

    // MARK: - What the platform reports

    /// The first byte of the request goes out.
    func requestLeft() {
        state.withLock { $0.mayHaveLeft = true }
    }

    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - headers: The header values by lower-case name.
    ///   - mustBeFramed: Whether an answer that states no length cannot be known to be whole: so in HTTP/1, where
    ///     the end of the connection ends it.
    func headArrived(status: Int, headers: [String: String], mustBeFramed: Bool) {
        state.withLock { state in
            state.mustBeFramed = mustBeFramed
            state.head = WireResponse(status: status, headers: headers)
            state.body = []
        }
    }

    /// Answers false where the body grows over its limit.
    func bytesArrived(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let fits = state.withLock { state in
            guard bytes.count <= maximumBodyBytes - state.body.count else { return false }
            state.body.append(contentsOf: bytes)
            return true
        }
        if !fits {
            settle(.failure(WireFailure(.unusable, "the answer is larger than \(maximumBodyBytes) bytes")))
        }
        return fits
    }

    /// The platform holds the answer for whole.
    func completed() {
        let (head, body, mustBeFramed) = state.withLock { ($0.head, $0.body, $0.mustBeFramed) }
        guard var response = head, response.status >= 200 else {
            return settle(.failure(failure("the answer is not HTTP")))
        }
        response.body = body
        guard isWhole(response, mustBeFramed) else { return settle(.failure(failure("the answer's body ended early"))) }
        settle(.success(response))
    }

    func failed(_ failure: WireFailure) {
        settle(.failure(failure))
    }

    private func settle(_ result: Result<WireResponse, any Error>) {
        let before = state.withLock { state in
            let before = state.outcome
            if case .settled = before { return before }
            state.outcome = .settled(result)
            state.body = []
            return before
        }
        if case .awaited(let continuation) = before { continuation.resume(with: result) }
    }

    /// Whether the body has the length its head promised, where the head's length means the body's bytes at all.
    private func isWhole(_ response: WireResponse, _ mustBeFramed: Bool) -> Bool {
        guard request.method != "HEAD", response.status != 204, response.status != 304 else { return true }
        if response.headers["transfer-encoding"] != nil { return true }
        guard let stated = response.headers["content-length"] else { return !mustBeFramed }
        // The length is that of the packed body.
        if response.headers["content-encoding"] != nil { return true }
        return Int(stated).map { response.body.count >= $0 } ?? true
    }
}
