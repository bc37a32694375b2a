package import KizunaCore
package import KizunaStore

/// What runs between one `create(_:)` and the next, or `close()`: the parts, started, told of each other's changes, and
/// ended together.
///
/// Listeners hear changes in this order: live reads, queue, feeds, status.
package final class Engine: Sendable {
    package let configuration: KizunaSyncConfiguration
    private let parts: EngineParts
    private let feeds = ListenerRegistry()
    private let credentialsNotifier = CoalescingNotifier()
    /// How long closing waits for one-shot reads that are under way.
    private static let closeTimeout = Duration.seconds(5)

    package var context: RequestContext { parts.context }
    package var reads: ReadServices { parts.reads }
    package var writes: WriteQueue { parts.writes }
    package var ownerControl: OwnerControl { parts.ownerControl }
    package var connectivity: Connectivity { parts.connectivity }
    package var events: EventHub { parts.updates.events }
    package var status: StateHub<KizunaSyncStatus> { parts.updates.status }

    /// Opens the store and starts the parts.
    package init(_ configuration: KizunaSyncConfiguration, dependencies: Dependencies) throws(SyncError) {
        self.configuration = configuration
        parts = try EngineParts(configuration, dependencies)
        try parts.ownerRunner.openFirstStore()
        parts.connectivity.start { [weak self] network in self?.networkChanged(network) }
        parts.ownerRunner.start(listener: self, previousOwnersWithRows: parts.previousOwnersWithRows)
        if let tokenSession = parts.tokenSession { parts.ownerRunner.take(tokenSession.initial) }
    }

    /// Registers a feed and shows it the open store. Returns the function that removes it.
    package func follow(_ feed: any EngineListener) throws(SyncError) -> @Sendable () -> Void {
        let id = try feeds.add(feed)
        if let handle = context.owners.openHandle { feed.storeOpened(handle) }
        return { [weak self] in self?.feeds.remove(id) }
    }

    /// Sends what waits and returns when nothing does.
    package func drain() async throws { try await parts.queue.drain() }

    /// Sends what waits, then fetches every query that is iterated. Returns when all of it is done.
    ///
    /// A read that is up to date stays so while it is fetched again, and when that fails: the failure is this call's. A
    /// refresh of its own that a read has under way is waited for instead. Without `asksReads` the call only sends, and
    /// starts the refreshes that wait for their schedule.
    package func sync(asksReads: Bool = true) async throws {
        _ = try await context.owners.handle()
        let refreshing = parts.pull.refreshingReads
        for read in refreshing { read.hurry(isAppsWish: false) }
        try await drain()
        if asksReads { try await parts.pull.run(besides: Set(refreshing.map(\.cacheKey))) }
    }

    /// Allows requests again, and tries at once whatever waits: also when requests were allowed already, and when the
    /// server asked for a pause.
    package func enableNetwork() {
        let wasEnabled = connectivity.network.isEnabled
        connectivity.setEnabled(true)
        guard wasEnabled else { return }
        parts.queue.retryNow()
        for read in parts.registry.reads { read.hurry(isAppsWish: true) }
    }

    /// Ends everything. When another engine takes its place, the caller ends the events once that one runs.
    package func close(isReplaced: Bool = false) async {
        parts.calls.beginClosing()
        // A read that waits for the session is answered from the store.
        context.owners.endSessionWaits()
        await parts.calls.end(within: Self.closeTimeout, clock: context.environment.clock)
        let feeds = feeds.removeAll()
        if !isReplaced { events.end(nil) }
        connectivity.stop()
        context.owners.close()
        parts.queue.end()
        parts.registry.end()
        parts.updates.end()
        for feed in feeds { feed.end() }
        parts.outcomes.end(
            SyncError(.closed, "The client was closed before the server gave an outcome."), isFinal: true)
        await parts.ownerRunner.close()
    }
}

// MARK: - Changes

extension Engine: OwnerListener {
    package func storeChanged(_ change: StoreChange, generation: Int) {
        let owners = context.owners
        parts.registry.storeChanged(change, generation: generation)
        guard owners.isCurrent(generation) else { return }
        for listener in afterReads { listener.storeChanged(change, generation: generation) }
        // Last, so that a caller of `delivered()` finds the reads as the delivery left them.
        parts.outcomes.announce(change)
    }

    package func ownerNotice(_ notice: OwnerRunner.Notice) {
        switch notice {
        case .ownerChanging(let generation):
            context.owners.ownerIsChanging()
            parts.queue.ownerChanged(generation: generation)
            parts.updates.ownerChanged(generation: generation)
            parts.registry.ownerChanged(generation: generation)
            reads.decodedRows.forget()
            for feed in feeds.listeners { feed.ownerChanged(generation: generation) }
        case .storeOpened(let handle):
            parts.queue.storeOpened(handle)
            context.owners.storeOpened()
            parts.updates.storeOpened(handle)
            parts.registry.storeOpened(handle)
            for feed in feeds.listeners { feed.storeOpened(handle) }
        case .storeFailed(let error):
            context.environment.log.log(
                LogLine(.error, "The owner's store could not be opened", [.error: error.code.rawValue]))
            context.owners.storeFailed(error)
            parts.registry.storeFailed(error)
        case .softBlocked(let reason): events.tell(.resetRequired(reason: reason))
        case .credentials: credentialsNotifier.tell { sessionChanged(isSettled: context.owners.isSessionSettled) }
        }
    }

    /// The listeners but the live reads, in their order.
    private var afterReads: [any EngineListener] { [parts.queue] + feeds.listeners + [parts.updates] }

    private func sessionChanged(isSettled: Bool) {
        if isSettled { context.owners.endSessionWaits() }
        parts.updates.sessionChanged(isSettled: isSettled)
        parts.registry.sessionChanged(isSettled: isSettled)
        parts.queue.sessionChanged(isSettled: isSettled)
    }

    private func networkChanged(_ network: NetworkState) {
        parts.registry.networkChanged(network)
        parts.queue.networkChanged(network)
        if network.isEnabled, network.isPathUp { parts.ownerRunner.networkReturned() }
        parts.updates.networkChanged(network)
    }
}
