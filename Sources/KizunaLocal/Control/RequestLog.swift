/// One request the backend has seen.
package struct LoggedRequest: Sendable, Hashable {
    /// Counts from 1 in the order of arrival.
    package let number: Int
    package let method: String
    /// The path with its query, still percent-encoded.
    package let target: String
    /// What has become of it so far.
    package var outcome: Outcome
    /// Who says to have sent it, in the header `X-Kizuna-Sender`.
    package let sender: String?
    /// When it came, on the process's monotonic clock.
    package let arrivedAt: ContinuousClock.Instant
    /// When its outcome was known.
    package var endedAt: ContinuousClock.Instant?

    package enum Outcome: Sendable, Hashable {
        /// No answer yet.
        case waiting
        /// Kept back by a `hold` or `holdAnswer` fault.
        case held
        /// Answered with this status.
        case answered(Int)
        /// The connection was closed before the request was handled.
        case cut
        /// Handled with this status, which the client was not told in full.
        case answerLost(Int)
    }

    /// The status the client got.
    package var status: Int? {
        guard case .answered(let status) = outcome else { return nil }
        return status
    }
}

/// All requests since the start or the last clearing, and who waits for more. A value; its owner keeps it under a lock.
struct RequestLog {
    private(set) var requests: [LoggedRequest] = []
    private var firstNumber = 1
    private var waiters: [(isMet: @Sendable ([LoggedRequest]) -> Bool, resume: @Sendable () -> Void)] = []

    mutating func begin(method: String, target: String, sender: String? = nil) -> Int {
        let number = firstNumber + requests.count
        requests.append(
            LoggedRequest(
                number: number, method: method, target: target, outcome: .waiting, sender: sender, arrivedAt: .now))
        return number
    }

    mutating func set(_ outcome: LoggedRequest.Outcome, of number: Int) {
        let index = number - firstNumber
        guard requests.indices.contains(index) else { return }
        requests[index].outcome = outcome
        if outcome != .held { requests[index].endedAt = .now }
    }

    mutating func clear() {
        firstNumber += requests.count
        requests = []
    }

    /// Calls back at once where the condition holds already, else at the change that makes it hold.
    mutating func wait(
        for isMet: @escaping @Sendable ([LoggedRequest]) -> Bool, _ resume: @escaping @Sendable () -> Void
    ) {
        waiters.append((isMet, resume))
    }

    /// The waiters whose condition holds now; they are taken off the list.
    mutating func takeMetWaiters() -> [@Sendable () -> Void] {
        var met: [@Sendable () -> Void] = []
        waiters.removeAll { waiter in
            guard waiter.isMet(requests) else { return false }
            met.append(waiter.resume)
            return true
        }
        return met
    }

    mutating func takeAllWaiters() -> [@Sendable () -> Void] {
        defer { waiters = [] }
        return waiters.map(\.resume)
    }
}
