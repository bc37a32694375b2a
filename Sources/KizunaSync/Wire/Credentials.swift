/// What a request is sent with.
package enum Credentials: Sendable, Equatable {
    /// The session has not settled, or there is no token of the owner: nothing is sent.
    case unsettled
    /// Nobody is signed in: the publishable key alone.
    case anonymous
    case token(String)

    package var isSettled: Bool { self != .unsettled }
}
