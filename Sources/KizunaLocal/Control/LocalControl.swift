internal import Synchronization

/// The switchboard of a backend for tests and demos: faults, the network switch, and the log of requests.
///
/// ```swift
/// backend.control.add(FaultRule(.dropAnswer, method: "POST", path: "/rest/v1/tasks"))
/// await backend.control.requests { $0.count == 2 }
/// ```
package final class LocalControl: Sendable {
    private struct State {
        var faults = FaultBook()
        var log = RequestLog()
        var open: [Int: HTTPExchange] = [:]
    }

    private let state = Mutex(State())

    init() {}

    // MARK: - Faults

    /// Puts a fault in force, after those that are there. Returns its id.
    @discardableResult
    package func add(_ rule: FaultRule) -> Int { state.withLock { $0.faults.add(rule) } }

    /// Ends a fault (nil: all of them); what it held goes on.
    package func removeFault(_ id: Int? = nil) {
        for resume in state.withLock({ $0.faults.remove(id) }) { resume() }
    }

    /// Lets go on what a fault (nil: any fault) holds.
    package func release(_ id: Int? = nil) {
        for resume in state.withLock({ $0.faults.release(id) }) { resume() }
    }

    /// How many requests and answers are held.
    package var heldCount: Int { state.withLock { $0.faults.heldCount } }

    /// The faults in force with their ids, and how often each will still apply.
    package var faults: [(id: Int, rule: FaultRule, remaining: Int?)] {
        state.withLock { $0.faults.entries.map { ($0.id, $0.rule, $0.remaining) } }
    }

    /// Switches the network: off closes every connection with a request on it, and every later one at once.
    package var isNetworkOn: Bool {
        get { state.withLock { !$0.faults.isNetworkOff } }
        set {
            let open = state.withLock { state in
                state.faults.isNetworkOff = !newValue
                return newValue ? [] : Array(state.open)
            }
            for (number, exchange) in open {
                exchange.cut()
                change { $0.log.set(.cut, of: number) }
            }
        }
    }

    // MARK: - Log

    /// The requests so far, `/control` not counted.
    package var requests: [LoggedRequest] { state.withLock { $0.log.requests } }

    /// Empties the log; numbers go on.
    package func clearRequests() { state.withLock { $0.log.clear() } }

    /// Waits until the log of requests is as asked, and returns it. Ends too when the backend stops.
    @discardableResult
    package func requests(when isMet: @escaping @Sendable ([LoggedRequest]) -> Bool) async -> [LoggedRequest] {
        await withCheckedContinuation { continuation in
            change { $0.log.wait(for: isMet) { [self] in continuation.resume(returning: requests) } }
        }
    }

    // MARK: - For the router

    func begin(method: String, target: String, sender: String? = nil, _ exchange: HTTPExchange? = nil) -> Int {
        change { state in
            let number = state.log.begin(method: method, target: target, sender: sender)
            if let exchange { state.open[number] = exchange }
            return number
        }
    }

    func end(_ number: Int, _ outcome: LoggedRequest.Outcome) {
        change { state in
            // A request that the network switch has cut stays cut.
            guard state.open.removeValue(forKey: number) != nil else { return }
            state.log.set(state.faults.isNetworkOff ? .cut : outcome, of: number)
        }
    }

    /// Logs a connection that is to be cut at the head of its request.
    func cutsConnection(method: String, target: String) -> Bool {
        change { state in
            guard
                state.faults.isNetworkOff
                    || state.faults.take(
                        method: method, target: target, where: { $0 == .cutConnection }) != nil
            else { return false }
            state.log.set(.cut, of: state.log.begin(method: method, target: target))
            return true
        }
    }

    /// The fault for a request, if any; `hold` keeps the request until it is released.
    func fault(
        for request: HTTPRequest, number: Int, resume: @escaping @Sendable () -> Void
    ) -> (id: Int, action: FaultAction)? {
        change { state in
            guard
                let (id, action) = state.faults.take(
                    method: request.method, target: request.target, where: { $0 != .cutConnection })
            else { return nil }
            if action == .hold {
                state.faults.hold(for: id, resume)
                state.log.set(.held, of: number)
            }
            return (id, action)
        }
    }

    func holdAnswer(for id: Int, number: Int, _ resume: @escaping @Sendable () -> Void) {
        change { state in
            state.faults.hold(for: id, resume)
            state.log.set(.held, of: number)
        }
    }

    /// Lets everything that waits go on, for the end of the backend.
    func stop() {
        removeFault()
        for resume in state.withLock({ $0.log.takeAllWaiters() }) { resume() }
    }

    /// Changes the state, then wakes whoever waited for it.
    @discardableResult
    private func change<Outcome: Sendable>(_ body: (inout sending State) -> Outcome) -> Outcome {
        let (outcome, waiters) = state.withLock { state in
            let outcome = body(&state)
            return (outcome, state.log.takeMetWaiters())
        }
        for resume in waiters { resume() }
        return outcome
    }
}
