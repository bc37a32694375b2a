internal import KizunaCore
internal import KizunaStore

/// Signs owners in and out, and manages their stores.
package struct OwnerControl: Sendable {
    private let runner: OwnerRunner
    private let owners: OwnerAccess
    private let directory: OwnerDirectory
    private let tokenSession: TokenSession?
    private let signOutPolicy: SignOutPolicy
    private let environment: SyncEnvironment
    private let drain: @Sendable () async throws -> Void

    init(
        runner: OwnerRunner, owners: OwnerAccess, directory: OwnerDirectory, tokenSession: TokenSession?,
        signOutPolicy: SignOutPolicy, environment: SyncEnvironment, drain: @escaping @Sendable () async throws -> Void
    ) {
        self.runner = runner
        self.owners = owners
        self.directory = directory
        self.tokenSession = tokenSession
        self.signOutPolicy = signOutPolicy
        self.environment = environment
        self.drain = drain
    }

    package var softBlockReason: String? { runner.softBlockReason }

    /// Waits until the session source has reported its first state, so that rows of a user who is signed out are never
    /// shown. A source that reports none is waited for one second.
    package func sessionBegan() async {
        let timer = environment.clock.schedule(after: .seconds(1)) { [runner] in runner.hasBegun.open() }
        defer { timer.cancel() }
        await runner.hasBegun.wait()
    }

    /// Takes a session from the app. With a generation, only while that one is the current one.
    package func take(_ session: SessionState, generation: Int? = nil) throws(SyncError) {
        try ensureTakesTokens()
        runner.take(session, generation: generation)
        tokenSession?.note(session)
    }

    /// Throws `invalidConfiguration` when the configuration has a session source.
    private func ensureTakesTokens() throws(SyncError) {
        guard tokenSession != nil else {
            throw SyncError(
                .invalidConfiguration,
                "The configuration has a session source, so sign-ins and sign-outs come from there.")
        }
    }

    /// Removes what the open store holds.
    package func clearLocalData(keepingQueue: Bool) async throws {
        try await owners.handle().store.clear(keepingQueue: keepingQueue)
    }

    /// Removes the current owner's data, ends a soft block, and serves the session's own user.
    package func reset() async throws {
        try await clearLocalData(keepingQueue: false)
        runner.reset()
    }

    /// Signs the present user out, as the policy says.
    package func signOut() async throws {
        try ensureTakesTokens()
        guard let current = try await openStore() else {
            try take(.signedOut)
            _ = try await owners.handle()
            return
        }
        if case .deliverThenClear(let deadline) = signOutPolicy, current.owner != .nobody,
            try await deliver(within: deadline), owners.openHandle?.generation == current.generation
        {
            do {
                try await current.store.clearDelivered()
            } catch {
                // No reason to stay signed in: the sealing tries again, now or at the next start.
                environment.log.log(
                    LogLine(
                        .error, "The delivered rows could not be removed from the device",
                        [.error: error.code.rawValue]))
            }
        }
        // Another user who signed in meanwhile stays signed in.
        try take(.signedOut, generation: current.generation)
        // The former vault is sealed before the next one is open.
        _ = try await owners.handle()
    }

    /// The open vault; nil where it cannot be opened, which must not keep anybody signed in.
    private func openStore() async throws -> OwnerStoreHandle? {
        do {
            return try await owners.handle()
        } catch let error as SyncError where error.code != .closed {
            return nil
        }
    }

    /// Delivers what waits, at most so long; says whether the queue is empty then.
    package func deliver(within deadline: Duration) async throws -> Bool {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                var failures = 0
                while true {
                    do {
                        try await drain()
                        return true
                    } catch let error as SyncError {
                        guard error.isRetryable else { return false }
                        failures += 1
                        try await environment.sleep(RetrySchedule.refresh.wait(afterFailure: failures))
                    }
                }
            }
            group.addTask {
                try await environment.sleep(deadline)
                return false
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
    }

    /// The owners that have a store here, with the number of their waiting writes.
    package func knownOwners() async throws -> [(owner: OwnerID, pending: Int)] {
        let current = try await owners.handle()
        var known: [(owner: OwnerID, pending: Int)] = []
        for owner in directory.owners() where owner != current.owner {
            known.append((owner, directory.pendingMutationCount(of: owner)))
        }
        known.append((current.owner, try await current.store.pendingMutationCount()))
        return known.sorted { $0.owner.text < $1.owner.text }
    }

    /// Removes a former owner's store with everything in it.
    package func removeOwner(_ owner: OwnerID) async throws {
        let current = try await owners.handle()
        guard owner != current.owner else {
            throw SyncError(
                .invalidConfiguration, "The present owner's store is open; sign out first, or call clearLocalData().")
        }
        try directory.remove(owner)
    }
}
