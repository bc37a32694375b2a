internal import KizunaStore
internal import KizunaCore

extension KizunaSyncClient {
    /// Does what a scheduler's run is for: sends the queued writes, then asks the server again for each query that is
    /// iterated as a live read, once, however many iterate it.
    ///
    /// A live read that is up to date keeps reading so meanwhile, and emits its rows when the answer is there. A refresh
    /// that a read has under way by itself is waited for instead. Nothing is asked for `cacheOnly` reads; they show what
    /// others bring. Returns when the queue is empty and every question is answered. Overlapping calls share the requests.
    ///
    /// Cancellation: throws; a request that nobody else waits for is called off, and the store holds what was answered
    /// before. Offline: throws; reads keep their rows, writes stay queued.
    ///
    /// - Throws: `SyncError`: `connectivity` or `networkDisabled` while the server cannot be reached, in which case no
    ///   query is asked; `sessionNotSettled` while there is no token of the store's user; `server` where the server refuses
    ///   one query, after the others were asked. `CancellationError` when the calling task is cancelled.
    public func sync() async throws { try await engine().sync() }

    /// Tells a handler what happens, in order and one event at a time, from any thread. The subscription belongs to the
    /// engine of the last `create(_:)`; it ends with `engineReplaced` when that is called again, or when the client closes.
    ///
    /// - Throws: `SyncError` with code `ENGINE_UNAVAILABLE` before `create(_:)`.
    public func on(
        _ handler: @escaping @Sendable (KizunaSyncEvent) -> Void
    ) async throws -> KizunaSyncEventSubscription {
        try engine().events.subscribe(handler)
    }

    /// Says that the user signed out: cached rows leave the screen at once, and are removed from the device when this
    /// returns. What becomes of unsent writes is the configuration's `signOutPolicy`; by default they stay sealed in the
    /// user's store and are sent at that user's next sign-in.
    ///
    /// - Throws: `SyncError`: `invalidConfiguration` where the configuration has a session source, which is then the one
    ///   to sign out; `storage` when the next store cannot be opened.
    public func signOut() async throws { try await engine().ownerControl.signOut() }

    /// Where the client stands with the server, and whether it is blocked until `reset()`.
    public func checkpoint() async throws -> KizunaSyncCheckpoint {
        let reason = try engine().ownerControl.softBlockReason
        return KizunaSyncCheckpoint(cursor: nil, softBlocked: reason != nil, softBlockReason: reason)
    }

    /// How the client stands as a whole: the present status first, then each change. Ends when the client closes.
    public var syncStatus: KizunaStateSequence<KizunaSyncStatus> {
        KizunaStateSequence { [self] in try engine().status.follow() }
    }

    /// How many writes wait for the server's verdict.
    public func outboxDepth() async throws -> Int {
        try await engine().context.owners.handle().store.pendingMutationCount()
    }

    /// Removes the present user's data from the device, unsent and refused writes included, and ends a soft block: from
    /// then on the session's own user is served.
    ///
    /// It raises no local write; call the scheduler's `wake()` after it.
    public func reset() async throws { try await engine().ownerControl.reset() }

    /// How many writes of a user wait on this device; nil asks for nobody's. Ask before a sign-out to warn.
    public func pendingMutationCount(owner userID: String?) async throws -> Int {
        let owner = userID.map { OwnerID.user($0) } ?? .nobody
        return try await engine().ownerControl.knownOwners().first { $0.owner == owner }?.pending ?? 0
    }

    /// The ids of the users that have a store on this device.
    public func knownOwners() async throws -> [String] {
        try await engine().ownerControl.knownOwners().compactMap(\.owner.userID)
    }

    /// Removes a former user's store, unsent writes included. The present user's is not removed: sign out first. Another
    /// process that has the store open finds it cleared, and begins a new one.
    ///
    /// - Throws: `SyncError`: `invalidConfiguration` for the present user, `storeBusy` while another process writes to it,
    ///   `storage` when the files cannot be removed.
    public func removeOwner(_ userID: String) async throws {
        try await engine().ownerControl.removeOwner(.user(userID))
    }
}
