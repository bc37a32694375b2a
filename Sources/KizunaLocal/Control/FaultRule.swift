/// What the backend does to a request instead of only answering it.
package enum FaultAction: Sendable, Hashable {
    /// Closes the connection when the head of the request has come; the body is not read.
    case cutConnection
    /// Reads the whole request, does nothing, and closes the connection.
    case dropRequest
    /// Does what the request says, then closes the connection without an answer.
    case dropAnswer
    /// Does what the request says, then sends only the first bytes of the body (by default half) and closes.
    case truncateAnswer(bytes: Int? = nil)
    /// Waits before the request is handled.
    case delay(Duration)
    /// Answers this, without handling the request.
    case answer(HTTPAnswer)
    /// Keeps the request, unhandled, until the rule is released.
    case hold
    /// Does what the request says, then keeps the answer until the rule is released.
    case holdAnswer
}

/// Which requests a fault is for.
package struct FaultRule: Sendable, Hashable {
    /// Nil for every method.
    package let method: String?
    /// The beginning of the path, for example `/rest/v1/tasks`; a query may follow: `/rest/v1/tasks?id=eq.1`.
    package let pathPrefix: String
    /// How often the rule applies; nil keeps it until it is removed.
    package let count: Int?
    package let action: FaultAction

    package init(_ action: FaultAction, method: String? = nil, path pathPrefix: String = "/", count: Int? = 1) {
        self.method = method
        self.pathPrefix = pathPrefix
        self.count = count
        self.action = action
    }

    func matches(method: String, target: String) -> Bool {
        (self.method == nil || self.method == method) && target.hasPrefix(pathPrefix)
    }
}
