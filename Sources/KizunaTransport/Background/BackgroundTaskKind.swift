internal import KizunaCore

/// A background run that the system granted.
package protocol BackgroundGrant: Sendable {
    /// Calls the handler when the granted time expires.
    func onExpiration(_ handler: @escaping @Sendable () -> Void)
    /// Reports the end of the run and whether it succeeded. Called once.
    func complete(isFinished: Bool)
}

/// The two kinds of background runs.
package enum BackgroundTaskKind: Sendable, Equatable {
    /// A few seconds, often.
    case refresh
    /// Minutes, rarely, with network access.
    case processing
}
