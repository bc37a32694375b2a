internal import Dispatch
internal import KizunaCore
internal import Synchronization

/// One request in flight: the received part of its response, and the task that waits for it.
///
/// *Threads:* the platform, the deadline and the caller's cancellation report on different threads; the first result
/// counts.
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
    ///   - request: The request.
    ///   - maximumBodyBytes: The largest accepted body.
    ///   - mayHaveLeft: False if the platform reports the first sent byte through `requestLeft()`.
    init(_ request: WireRequest, maximumBodyBytes: Int, mayHaveLeft: Bool) {
        self.request = request
        self.maximumBodyBytes = maximumBodyBytes
        state = Mutex(State(mayHaveLeft: mayHaveLeft))
    }

    /// Waits for the complete response, at most until the request's deadline or the caller's cancellation.
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

    /// Whether the request may still be sent.
    var mayLeave: Bool { request.leavesBefore.map { HostProcess.live.sinceBoot() < $0 } ?? true }

    /// Creates a failure: `notSent` if no byte can have been sent, otherwise `outcomeUnknown`.
    func failure(_ reason: String) -> WireFailure {
        WireFailure(state.withLock { $0.mayHaveLeft } ? .outcomeUnknown : .notSent, reason)
    }

    // MARK: - Reports of the platform

    /// The first byte of the request is sent.
    func requestLeft() {
        state.withLock { $0.mayHaveLeft = true }
    }

    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - headers: The header values by lower-case name.
    ///   - mustBeFramed: Whether a response without a length cannot be recognised as complete. This is so in HTTP/1,
    ///     where the end of the connection ends the response.
    func headArrived(status: Int, headers: [String: String], mustBeFramed: Bool) {
        state.withLock { state in
            state.mustBeFramed = mustBeFramed
            state.head = WireResponse(status: status, headers: headers)
            state.body = []
        }
    }

    /// Appends to the body; returns false if the body exceeds its limit.
    func bytesArrived(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let fits = state.withLock { state in
            guard bytes.count <= maximumBodyBytes - state.body.count else { return false }
            state.body.append(contentsOf: bytes)
            return true
        }
        if !fits {
            settle(.failure(WireFailure(.unusable, "the response is larger than \(maximumBodyBytes) bytes")))
        }
        return fits
    }

    /// The platform considers the response complete.
    func completed() {
        let (head, body, mustBeFramed) = state.withLock { ($0.head, $0.body, $0.mustBeFramed) }
        guard var response = head, response.status >= 200 else {
            return settle(.failure(failure("the response is not HTTP")))
        }
        response.body = body
        guard isWhole(response, mustBeFramed) else {
            return settle(.failure(failure("the response's body ended early")))
        }
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

    /// Whether the body has the length in the header, if that is the length of the decoded body.
    private func isWhole(_ response: WireResponse, _ mustBeFramed: Bool) -> Bool {
        guard request.method != "HEAD", response.status != 204, response.status != 304 else { return true }
        if response.headers["transfer-encoding"] != nil { return true }
        guard let stated = response.headers["content-length"] else { return !mustBeFramed }
        // The length is that of the compressed body.
        if response.headers["content-encoding"] != nil { return true }
        return Int(stated).map { response.body.count >= $0 } ?? true
    }
}
