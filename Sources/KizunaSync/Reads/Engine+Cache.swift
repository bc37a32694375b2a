internal import KizunaCore
internal import KizunaStore

// What the device keeps of the server's answers.

extension Engine {
    /// Lets the least recently used lists go when the limits are passed; a list that is iterated stays whatever its size.
    package func listStored(in handle: OwnerStoreHandle) async {
        do {
            _ = try await handle.store.evict(
                maximumBytes: configuration.limits.cacheBytes, maximumLists: configuration.limits.cachedQueries,
                maximumListBytes: configuration.limits.queryBytes, keeping: iteratedKeys)
        } catch {
            environment.log.log(LogLine(.warning, "Old lists could not be removed from the store"))
        }
    }

    /// Removes what the open store holds.
    package func clearLocalData(keepingQueue: Bool) async throws {
        try await handle().store.clear(keepingQueue: keepingQueue)
    }
}
