public import KizunaCore
internal import Synchronization

/// A network in virtual time whose responses a test scripts.
///
/// ```swift
/// let transport = ScriptedTransport(simulation) { request in
///     request.method == "GET" ? .json("[]") : .hold
/// }
/// transport.enqueue(.after(.seconds(2), .json(#"[{"id":1}]"#)))   // for the next request
/// let held = await transport.nextHeld()                           // waits for the next held request
/// held.respond(WireResponse(status: 201))
/// ```
///
/// Each request is handled in this order: offline, it fails as not sent; the next planted fault happens; the first
/// queued response is used; otherwise the server closure responds. If the response takes longer than the timeout of the
/// request, the request fails with `outcomeUnknown`, as on a real network.
public final class ScriptedTransport: WireTransport {
    /// A sent request.
    public struct Sent: Sendable, Equatable {
        /// The request.
        public let request: WireRequest
        /// The virtual time of sending.
        public let sentAt: Duration
        /// Whether the request left the device; false while offline.
        public let leftDevice: Bool
    }

    /// The server: a reaction for each request.
    public typealias Server = @Sendable (WireRequest) async throws -> ScriptedResponse

    private struct RandomFaults {
        var random: SeededRandom
        var share: Double
        var faults: [WireFault]

        mutating func next() -> WireFault? {
            guard random.chance(share), !faults.isEmpty else { return nil }
            return faults[Int(random.next() % UInt64(faults.count))]
        }
    }

    private struct State {
        var isOnline = true
        var server: Server?
        var responses: [ScriptedResponse] = []
        var faults: [WireFault] = []
        var randomFaults: RandomFaults?
        var delayBeforeHandling: Duration = .zero
        var delayAfterHandling: Duration = .zero
        var sent: [Sent] = []
        var inFlight: [UInt64: PendingResponse] = [:]
        var lastID: UInt64 = 0
        var held: [HeldRequest] = []
        var awaitingHeld: [UnsafeContinuation<HeldRequest, Never>] = []
    }

    private let simulation: Simulation
    private let clock: SimulatedClock
    private let executor: SimulatedExecutor
    private let state: Mutex<State>

    /// Creates a network in this simulation, with or without a server.
    public init(_ simulation: Simulation, server: Server? = nil) {
        self.simulation = simulation
        clock = simulation.clock
        executor = simulation.executor
        state = Mutex(State(server: server))
    }

    // MARK: - Script

    /// Replaces the server, which handles each request without a queued response.
    public func serve(_ server: @escaping Server) {
        state.withLock { $0.server = server }
    }

    /// Queues reactions to the next requests, in order; they take precedence over the server.
    public func enqueue(_ responses: ScriptedResponse...) {
        state.withLock { $0.responses += responses }
    }

    /// Plants faults for the next requests that leave the device, one for each, in order.
    public func plant(_ faults: WireFault...) {
        state.withLock { $0.faults += faults }
    }

    /// Lets a share of all further requests that leave the device fail, drawn from the simulation's seed. Planted faults
    /// take precedence.
    ///
    /// - Parameters:
    ///   - share: the probability of a fault, from 0 to 1.
    ///   - faults: the possible faults.
    public func plantRandomFaults(_ share: Double, of faults: [WireFault] = WireFault.allCases) {
        let random = simulation.forkRandom()
        state.withLock { $0.randomFaults = RandomFaults(random: random, share: share, faults: faults) }
    }

    /// Removes all planted and random faults. Queued reactions and delays stay.
    public func clearFaults() {
        state.withLock { state in
            state.faults = []
            state.randomFaults = nil
        }
    }

    /// The virtual time between sending a request and its handling by the server. If the request times out in this time,
    /// the server still handles it later.
    public var delayBeforeHandling: Duration {
        get { state.withLock { $0.delayBeforeHandling } }
        set { state.withLock { $0.delayBeforeHandling = newValue } }
    }

    /// The virtual time between the handling of a request and its response.
    public var delayAfterHandling: Duration {
        get { state.withLock { $0.delayAfterHandling } }
        set { state.withLock { $0.delayAfterHandling = newValue } }
    }

    /// Whether requests leave the device. While false, each fails at once as not sent; requests in flight continue.
    public var isOnline: Bool {
        get { state.withLock { $0.isOnline } }
        set { state.withLock { $0.isOnline = newValue } }
    }

    /// Cuts the connection of every request in flight; their outcome is unknown to the callers.
    public func cutConnections() {
        let pending = state.withLock { state in
            state.inFlight.sorted { $0.key < $1.key }.map(\.value)
        }
        for each in pending { each.settle(.failure(WireFailure(.outcomeUnknown, "the connection was cut"))) }
    }

    // MARK: - History

    /// Every request so far, in order.
    public var sent: [Sent] { state.withLock { $0.sent } }

    /// The number of requests in flight.
    public var inFlightCount: Int { state.withLock { $0.inFlight.count } }

    /// The number of queued reactions that no request has used; 0 at the end of a test.
    public var unusedResponseCount: Int { state.withLock { $0.responses.count } }

    /// Waits for the next held request, in the order of arrival.
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

    /// Handles a request as scripted.
    public func send(_ request: WireRequest) async throws -> WireResponse {
        try Task.checkCancellation()
        let sent = Sent(request: request, sentAt: clock.elapsed, leftDevice: isOnline)
        let pending = PendingResponse()
        let (id, fault) = state.withLock { state -> (UInt64, WireFault?) in
            state.sent.append(sent)
            state.lastID += 1
            guard sent.leftDevice else { return (state.lastID, .refuseConnection) }
            state.inFlight[state.lastID] = pending
            return (state.lastID, state.faults.isEmpty ? state.randomFaults?.next() : state.faults.removeFirst())
        }
        let timer = clock.schedule(after: request.timeout) {
            pending.settle(.failure(WireFailure(.outcomeUnknown, "the request timed out")))
        }
        defer {
            timer.cancel()
            state.withLock { $0.inFlight[id] = nil }
        }
        switch fault {
        case .refuseConnection: throw WireFailure(.notSent, "there is no connection")
        case .dropBeforeHandling: throw WireFailure(.outcomeUnknown, "the connection broke")
        case .dropResponse: deliver(sent, pending, isResponseLost: true)
        case nil: deliver(sent, pending, isResponseLost: false)
        }
        return try await pending.value()
    }

    private func deliver(_ sent: Sent, _ pending: PendingResponse, isResponseLost: Bool) {
        let delay = delayBeforeHandling
        guard delay > .zero else { return handle(sent, pending, isResponseLost: isResponseLost) }
        _ = clock.schedule(after: delay) { [self] in handle(sent, pending, isResponseLost: isResponseLost) }
    }

    /// The side of the server, which continues after the client's timeout or cancellation.
    private func handle(_ sent: Sent, _ pending: PendingResponse, isResponseLost: Bool) {
        let scripted = state.withLock { state in state.responses.isEmpty ? nil : state.responses.removeFirst() }
        if let scripted { return play(delayed(scripted), sent, pending, isResponseLost) }
        guard let server = state.withLock({ $0.server }) else {
            pending.settle(.failure(WireFailure(.unusable, "no response is scripted for this \(sent.request.method)")))
            return
        }
        Task(executorPreference: executor) { [self] in
            do {
                play(delayed(try await server(sent.request)), sent, pending, isResponseLost)
            } catch {
                pending.settle(.failure(error))
            }
        }
    }

    private func delayed(_ response: ScriptedResponse) -> ScriptedResponse {
        let delay = delayAfterHandling
        return delay > .zero ? .after(delay, response) : response
    }

    private func play(_ response: ScriptedResponse, _ sent: Sent, _ pending: PendingResponse, _ isResponseLost: Bool) {
        switch response {
        case .after(let delay, let inner):
            _ = clock.schedule(after: delay) { [self] in play(inner, sent, pending, isResponseLost) }
        case _ where isResponseLost:
            pending.settle(.failure(WireFailure(.outcomeUnknown, "the connection broke before the response")))
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
