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
    ///   - run: drains, and says whether nothing is left.
    ///   - callOff: ends the draining early.
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
        grant.onExpiration {
            guard isOver.take() else { return }
            callOff()
            grant.complete(isFinished: false)
        }
        environment.spawn {
            let isFinished = await run()
            if isOver.take() { grant.complete(isFinished: isFinished) }
        }
    }
}

/// Something that happens once, whoever comes first.
private final class OneShot: Sendable {
    private let isTaken = Atomic(false)

    func take() -> Bool { !isTaken.exchange(true, ordering: .acquiringAndReleasing) }
}
