internal import KizunaCore
internal import KizunaStore

// What a scheduler and a settings screen ask of the engine: depth, reset, owners.

extension Engine {
    /// Removes the present owner's data, ends a soft block, and serves the session's own user.
    package func reset() async throws {
        try await handle().store.clear(keepingQueue: false)
        resetOwner()
    }

    /// Signs the present user out, as the policy says.
    package func signOut() async throws {
        try ensureTakesTokens()
        guard let present = try await openStore() else {
            try take(.signedOut)
            _ = try await handle()
            return
        }
        if case .deliverThenClear(let deadline) = configuration.signOutPolicy, present.owner != .nobody,
            try await deliver(within: deadline), openHandle?.generation == present.generation
        {
            do {
                try await present.store.clearDelivered()
            } catch {
                // No reason to stay signed in: the sealing tries again, now or at the next start.
                environment.log.log(
                    LogLine(
                        .error, "The delivered rows could not be removed from the device",
                        ["kizuna.error": error.code.rawValue]))
            }
        }
        // Another user who signed in meanwhile stays signed in.
        try take(.signedOut, generation: present.generation)
        // The former vault is sealed before the next one is open.
        _ = try await handle()
    }

    /// The open vault; nil where it cannot be opened, which must not keep anybody signed in.
    private func openStore() async throws -> OwnerStoreHandle? {
        do {
            return try await handle()
        } catch let error as SyncError where error.code != .closed {
            return nil
        }
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
            known.append((owner, directory.pendingMutationCount(of: owner)))
        }
        known.append((present.owner, try await present.store.pendingMutationCount()))
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
