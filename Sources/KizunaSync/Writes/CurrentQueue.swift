internal import KizunaCore
package import KizunaStore
internal import Synchronization

/// Holds the queue runner of the open store, and starts and ends it with the store.
package final class CurrentQueue: EngineListener {
    private let context: RequestContext
    private let outcomes: MutationOutcomes
    private let connectivity: Connectivity
    private let onState: @Sendable (QueueMachine.QueueState) -> Void
    private let runner = Mutex<QueueRunner?>(nil)

    package init(
        context: RequestContext, outcomes: MutationOutcomes, connectivity: Connectivity,
        onState: @escaping @Sendable (QueueMachine.QueueState) -> Void
    ) {
        self.context = context
        self.outcomes = outcomes
        self.connectivity = connectivity
        self.onState = onState
    }

    private var current: QueueRunner? { runner.withLock { $0 } }

    /// Sends what waits and returns when nothing does. Throws when it cannot go on at the moment.
    package func drain() async throws { try await current?.drain() }

    /// Tries at once whatever waits, also when the server asked for a pause.
    package func retryNow() { current?.retryNow() }

    package func storeChanged(_ change: StoreChange, generation: Int) {
        current?.storeChanged(change, generation: generation)
    }

    package func networkChanged(_ network: NetworkState) { current?.networkChanged(network) }

    package func sessionChanged(isSettled: Bool) { current?.sessionChanged(isReady: isSettled) }

    package func ownerChanged(generation: Int) {
        take(nil)?.end()
        outcomes.end(WriteQueue.leftBehind, isFinal: false)
    }

    package func storeOpened(_ handle: OwnerStoreHandle) {
        let next = QueueRunner(
            handle: handle, context: context, network: connectivity.network,
            isSessionReady: context.owners.isSessionSettled, onState: onState)
        _ = take(next)
        next.networkChanged(connectivity.network)
        next.sessionChanged(isReady: context.owners.isSessionSettled)
        next.start()
    }

    package func end() { take(nil)?.end() }

    /// Replaces the runner and returns the one before.
    private func take(_ next: QueueRunner?) -> QueueRunner? {
        runner.withLock { runner in
            defer { runner = next }
            return runner
        }
    }
}
