internal import KizunaCore
internal import KizunaPostgREST

/// Starts and ends the live reads of one client.
package struct LiveReads: Sendable {
    private let registry: LiveReadRegistry
    private let context: RequestContext
    private let connectivity: Connectivity

    package init(registry: LiveReadRegistry, context: RequestContext, connectivity: Connectivity) {
        self.registry = registry
        self.context = context
        self.connectivity = connectivity
    }

    /// Joins the live read of a request, or starts it.
    func join(
        _ request: TableRequest, strategy: SequenceReadStrategy
    ) throws(SyncError) -> LiveReadRegistry.Membership {
        let fresh = LiveReadRunner(
            request: request, strategy: strategy, context: context, network: connectivity.network,
            isSessionSettled: context.owners.isSessionSettled)
        let member = try registry.join(fresh, isShared: strategy == .cacheFirstThenNetwork)
        if member.read === fresh { catchUp(fresh) }
        return member
    }

    func leave(_ member: LiveReadRegistry.Membership) { registry.leave(member) }

    /// Repeats what a read may have missed between its creation and its registration, until nothing changes meanwhile.
    private func catchUp(_ read: LiveReadRunner) {
        var told: (network: NetworkState, isSettled: Bool)?
        while true {
            let now = (network: connectivity.network, isSettled: context.owners.isSessionSettled)
            if let told, told == now { break }
            read.networkChanged(now.network)
            read.sessionChanged(isSettled: now.isSettled)
            told = now
        }
        if let handle = context.owners.openHandle { read.storeOpened(handle) }
        context.owners.retryOpeningFailedStore()
    }
}

/// What a read that an app holds as a value needs of its client when it runs.
package struct ReadServices: Sendable {
    package let live: LiveReads
    package let oneShot: OneShotReads
    package let decodedRows: DecodedRowsByType
    package let log: any LogSink
}
