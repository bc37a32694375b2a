internal import KizunaCore

/// One run in the background that the system granted.
package protocol BackgroundGrant: Sendable {
    /// Calls the handler when the system wants the time back.
    func onExpiration(_ handler: @escaping @Sendable () -> Void)
    /// Says that the run is over and whether it did what it was for. Called once.
    func complete(isFinished: Bool)
}

/// Which of the system's two kinds of background run is asked for.
package enum BackgroundTaskKind: Sendable, Equatable {
    /// Some seconds, often.
    case refresh
    /// Minutes, seldom, with the network there.
    case processing
}
