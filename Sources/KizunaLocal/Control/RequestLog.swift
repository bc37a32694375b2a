/// One request the backend has seen.
package struct LoggedRequest: Sendable, Hashable {
    /// Counts from 1 in the order of arrival.
    package let number: Int
    package let method: String
    /// The path with its query, still percent-encoded.
    package let target: String
    /// What has become of it so far.
    package var outcome: Outcome

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

    mutating func begin(method: String, target: String) -> Int {
        let number = firstNumber + requests.count
        requests.append(LoggedRequest(number: number, method: method, target: target, outcome: .waiting))
        return number
    }

    mutating func set(_ outcome: LoggedRequest.Outcome, of number: Int) {
        let index = number - firstNumber
        guard requests.indices.contains(index) else { return }
        requests[index].outcome = outcome
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
