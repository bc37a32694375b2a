internal import KizunaCore
internal import KizunaStore

// What a scheduler and a settings screen ask of the engine: depth, reset, owners.

extension Engine {
    /// Removes the present owner's data, ends a soft block, and serves the session's own user.
    package func reset() async throws {
        try await handle().vault.clear(keepingQueue: false)
        resetOwner()
    }

    /// Signs the present user out, as the policy says.
    package func signOut() async throws {
        try ensureTakesTokens()
        let present = try await handle()
        if case .deliverThenClear(let deadline) = configuration.signOutPolicy, present.owner != .nobody,
            try await deliver(within: deadline), openHandle?.generation == present.generation
        {
            try await present.vault.clearDelivered()
        }
        // Another user who signed in meanwhile stays signed in.
        try take(.signedOut, generation: present.generation)
        // The former vault is sealed before the next one is open.
        _ = try await handle()
    }

    /// Delivers what waits, at most so long; says whether the queue is empty then.
    package func deliver(within deadline: Duration) async throws -> Bool {
        let environment = environment
        return try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                var failures = 0
                while true {
                    do {
                        try await self.drain()
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
        let present = try await handle()
        var known: [(owner: OwnerID, pending: Int)] = []
        for owner in directory.owners() where owner != present.owner {
            known.append((owner, directory.pendingCount(of: owner)))
        }
        known.append((present.owner, try await present.vault.pendingCount()))
        return known.sorted { $0.owner.text < $1.owner.text }
    }

    /// Removes a former owner's store with everything in it.
    package func removeOwner(_ owner: OwnerID) async throws {
        let present = try await handle()
        guard owner != present.owner else {
            throw SyncError(
                .invalidConfiguration, "The present owner's store is open; sign out first, or call clearLocalData().")
        }
        try directory.remove(owner)
    }
}
