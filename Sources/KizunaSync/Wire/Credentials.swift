/// The token of a request, or the reason why it has none.
package enum Credentials: Sendable, Equatable {
    /// The session is not settled, or the owner has no token. No request is sent.
    case unsettled
    /// Nobody is signed in. Requests have the publishable key alone.
    case anonymous
    case token(String)

    package var isSettled: Bool { self != .unsettled }
}
