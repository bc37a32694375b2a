public import KizunaCore
internal import Synchronization

/// A network in virtual time whose answers a test writes.
///
/// ```swift
/// let transport = ScriptedTransport(simulation) { request in
///     request.method == "GET" ? .json("[]") : .hold
/// }
/// transport.enqueue(.after(.seconds(2), .json(#"[{"id":1}]"#)))   // the next request's answer
/// let held = await transport.nextHeld()                           // meets the next held request
/// held.respond(WireResponse(status: 201))
/// ```
///
/// For each request, in this order: offline refuses it; a planted fault happens; the first queued answer is used; else
/// the server closure is asked. An answer that takes longer than the request's own time-out fails with
/// `outcomeUnknown`, as on a real network.
public final class ScriptedTransport: WireTransport {
    /// A request as it was sent.
    public struct Sent: Sendable, Equatable {
        /// What was sent.
        public let request: WireRequest
        /// The virtual time at which it was sent.
        public let sentAt: Duration
        /// Whether it left the device: false while offline.
        public let leftDevice: Bool
    }

    /// Answers a request; it stands for the server and may be one.
    public typealias Server = @Sendable (WireRequest) async throws -> ScriptedResponse

    private struct State {
        var isOnline = true
        var server: Server?
        var responses: [ScriptedResponse] = []
        var faults: [WireFault] = []
        var sent: [Sent] = []
        var inFlight: [UInt64: PendingResponse] = [:]
        var lastID: UInt64 = 0
        var held: [HeldRequest] = []
        var awaitingHeld: [UnsafeContinuation<HeldRequest, Never>] = []
    }

    private let clock: SimulatedClock
    private let executor: SimulatedExecutor
    private let state: Mutex<State>

    /// Makes a network inside this simulation, with a server where one is given.
    public init(_ simulation: Simulation, server: Server? = nil) {
        clock = simulation.clock
        executor = simulation.executor
        state = Mutex(State(server: server))
    }

    // MARK: - Script

    /// Replaces the server that answers what no queued answer does.
    public func serve(_ server: @escaping Server) {
        state.withLock { $0.server = server }
    }

    /// Queues answers for the next requests, in order; they go before the server.
    public func enqueue(_ responses: ScriptedResponse...) {
        state.withLock { $0.responses += responses }
    }

    /// Plants faults for the next requests that leave the device, one each, in order.
    public func plant(_ faults: WireFault...) {
        state.withLock { $0.faults += faults }
    }

    /// Whether requests leave the device. While false, each fails at once as not sent; those under way go on.
    public var isOnline: Bool {
        get { state.withLock { $0.isOnline } }
        set { state.withLock { $0.isOnline = newValue } }
    }

    /// Breaks every connection under way: their callers learn that the outcome is unknown.
    public func cutConnections() {
        let pending = state.withLock { state in
            state.inFlight.sorted { $0.key < $1.key }.map(\.value)
        }
        for each in pending { each.settle(.failure(WireFailure(.outcomeUnknown, "the connection was cut"))) }
    }

    // MARK: - What happened

    /// Every request so far, in order.
    public var sent: [Sent] { state.withLock { $0.sent } }

    /// The requests under way: sent, and neither answered nor failed.
    public var inFlightCount: Int { state.withLock { $0.inFlight.count } }

    /// Answers queued by `enqueue(_:)` that no request has used; a finished test expects 0.
    public var unusedResponseCount: Int { state.withLock { $0.responses.count } }

    /// The next request that met `.hold`, in the order they came; waits for one where there is none.
    public func nextHeld() async -> HeldRequest {
        await withUnsafeContinuation { continuation in
            let ready = state.withLock { state -> HeldRequest? in
                guard state.held.isEmpty else { return state.held.removeFirst() }
                state.awaitingHeld.append(continuation)
                return nil
            }
            if let ready { continuation.resume(returning: ready) }
        }
    }

    // MARK: - WireTransport

    /// Sends a request into the script.
    public func send(_ request: WireRequest) async throws -> WireResponse {
        try Task.checkCancellation()
        let sent = Sent(request: request, sentAt: clock.elapsed, leftDevice: isOnline)
        let pending = PendingResponse()
        let (id, fault) = state.withLock { state -> (UInt64, WireFault?) in
            state.sent.append(sent)
            state.lastID += 1
            guard sent.leftDevice else { return (state.lastID, .refuseConnection) }
            state.inFlight[state.lastID] = pending
            return (state.lastID, state.faults.isEmpty ? nil : state.faults.removeFirst())
        }
        let timer = clock.schedule(after: request.timeout) {
            pending.settle(.failure(WireFailure(.outcomeUnknown, "no answer came in time")))
        }
        defer {
            timer.cancel()
            state.withLock { $0.inFlight[id] = nil }
        }
        switch fault {
        case .refuseConnection: throw WireFailure(.notSent, "there is no connection")
        case .dropBeforeHandling: throw WireFailure(.outcomeUnknown, "the connection broke")
        case .dropResponse: handle(sent, pending, isResponseLost: true)
        case nil: handle(sent, pending, isResponseLost: false)
        }
        return try await pending.value()
    }

    /// The server's side, which goes on when the client gives up.
    private func handle(_ sent: Sent, _ pending: PendingResponse, isResponseLost: Bool) {
        let scripted = state.withLock { state in state.responses.isEmpty ? nil : state.responses.removeFirst() }
        if let scripted { return play(scripted, sent, pending, isResponseLost) }
        guard let server = state.withLock({ $0.server }) else {
            pending.settle(.failure(WireFailure(.unusable, "no answer is scripted for this \(sent.request.method)")))
            return
        }
        Task(executorPreference: executor) { [self] in
            do {
                play(try await server(sent.request), sent, pending, isResponseLost)
            } catch {
                pending.settle(.failure(error))
            }
        }
    }

    private func play(_ response: ScriptedResponse, _ sent: Sent, _ pending: PendingResponse, _ isResponseLost: Bool) {
        switch response {
        case .after(let delay, let inner):
            _ = clock.schedule(after: delay) { [self] in play(inner, sent, pending, isResponseLost) }
        case _ where isResponseLost:
            pending.settle(.failure(WireFailure(.outcomeUnknown, "the connection broke before the answer")))
        case .respond(let response): pending.settle(.success(response))
        case .fail(let failure): pending.settle(.failure(failure))
        case .hold: hold(HeldRequest(request: sent.request, sentAt: sent.sentAt, pending: pending))
        }
    }

    private func hold(_ request: HeldRequest) {
        let waiter = state.withLock { state -> UnsafeContinuation<HeldRequest, Never>? in
            guard state.awaitingHeld.isEmpty else { return state.awaitingHeld.removeFirst() }
            state.held.append(request)
            return nil
        }
        waiter?.resume(returning: request)
    }
}
