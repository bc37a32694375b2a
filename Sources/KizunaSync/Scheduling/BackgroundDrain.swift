package import KizunaCore
package import KizunaTransport
internal import Synchronization

/// One background run: drains under the system's deadline, and says once whether it finished.
package struct BackgroundDrain: Sendable {
    private let environment: SyncEnvironment
    private let run: @Sendable () async -> Bool
    private let callOff: @Sendable () -> Void

    /// Makes a drain.
    ///
    /// - Parameters:
    ///   - environment: where the work runs.
    ///   - run: drains, and says whether nothing is left; its task is cancelled when the time is up.
    ///   - callOff: ends the run that is under way then.
    package init(
        environment: SyncEnvironment, run: @escaping @Sendable () async -> Bool, callOff: @escaping @Sendable () -> Void
    ) {
        self.environment = environment
        self.run = run
        self.callOff = callOff
    }

    /// Uses what the system granted.
    package func use(_ grant: any BackgroundGrant) {
        let isOver = OneShot()
        let draining = environment.spawn {
            let isFinished = await run()
            if isOver.take() { grant.complete(isFinished: isFinished) }
        }
        grant.onExpiration {
            guard isOver.take() else { return }
            draining.cancel()
            callOff()
            grant.complete(isFinished: false)
        }
    }
}

/// Something that happens once, whoever comes first.
private final class OneShot: Sendable {
    private let isTaken = Atomic(false)

    func take() -> Bool { !isTaken.exchange(true, ordering: .acquiringAndReleasing) }
}
