import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization

/// A network that keeps each request until the test lets it go, and watches under whose name requests are sent.
///
/// A request goes on even when its caller is cancelled, as an answer that is already on its way does.
final class OwnerNetwork: WireTransport {
    /// What becomes of a request that waits.
    enum Fate: CaseIterable {
        case answered
        case answeredAsOfArrival
        case handledAndLost
        case neverSent
        case tokenRejected
        case serverFault
    }

    private struct Waiting {
        let request: WireRequest
        let asOfArrival: WireResponse?
        let continuation: CheckedContinuation<WireResponse, any Error>
    }

    private struct State {
        var isHolding = false
        var waiting: [Waiting] = []
        /// The users under whose name a request may be sent now; nil is nobody.
        var allowed: Set<String?> = [nil]
        var faults: [String] = []
        var count = 0
    }

    private let server: SimulatedServer
    private let state = Mutex(State())

    init(_ server: SimulatedServer) { self.server = server }

    var isHolding: Bool {
        get { state.withLock { $0.isHolding } }
        set { state.withLock { $0.isHolding = newValue } }
    }

    var allowed: Set<String?> {
        get { state.withLock { $0.allowed } }
        set { state.withLock { $0.allowed = newValue } }
    }

    /// What must not happen, and did.
    var faults: [String] { state.withLock { $0.faults } }
    /// How many requests were sent.
    var count: Int { state.withLock { $0.count } }
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    func send(_ request: WireRequest) async throws -> WireResponse {
        watch(request)
        guard isHolding else { return server.respond(to: request) }
        return try await withCheckedThrowingContinuation { continuation in
            // A read is answered as of now, perhaps much later; a write happens when it is let go.
            let early = request.method == "GET" ? server.respond(to: request) : nil
            state.withLock {
                $0.waiting.append(Waiting(request: request, asOfArrival: early, continuation: continuation))
            }
        }
    }

    private func watch(_ request: WireRequest) {
        let bearer = request.headers.last { $0.name == "Authorization" }?.value.dropFirst(7) ?? ""
        let user = try? AccessToken(String(bearer)).userID
        state.withLock { state in
            state.count += 1
            if !state.allowed.contains(user) {
                state.faults.append("\(request.method) sent as \(user ?? "nobody") while \(state.allowed) is present")
            }
            for name in OwnerScene.users where name != user {
                let body = String(decoding: request.body ?? [], as: UTF8.self)
                if body.contains(name) { state.faults.append("a row of \(name) sent as \(user ?? "nobody")") }
            }
        }
    }

    /// Lets one waiting request go.
    func release(_ index: Int, _ fate: Fate) {
        let waiting = state.withLock { state in
            state.waiting.isEmpty ? nil : state.waiting.remove(at: index % state.waiting.count)
        }
        guard let waiting else { return }
        let continuation = waiting.continuation
        switch fate {
        case .answered: continuation.resume(returning: server.respond(to: waiting.request))
        case .answeredAsOfArrival:
            continuation.resume(returning: waiting.asOfArrival ?? server.respond(to: waiting.request))
        case .handledAndLost:
            _ = server.respond(to: waiting.request)
            continuation.resume(throwing: WireFailure(.outcomeUnknown, "lost"))
        case .neverSent: continuation.resume(throwing: WireFailure(.notSent, "no connection"))
        case .tokenRejected:
            continuation.resume(returning: Self.rejection(401, code: "PGRST301", message: "JWT not accepted"))
        case .serverFault:
            continuation.resume(returning: Self.rejection(503, code: "PGRST001", message: "no connection"))
        }
    }

    private static func rejection(_ status: Int, code: String, message: String) -> WireResponse {
        WireResponse(
            status: status, headers: ["content-type": "application/json"],
            body: Array(#"{"code":"\#(code)","message":"\#(message)"}"#.utf8))
    }
}
