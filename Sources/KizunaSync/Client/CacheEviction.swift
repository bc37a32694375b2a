internal import KizunaCore
internal import KizunaStore

/// Evicts the least recently used cached queries when the limits are exceeded. A query that is iterated stays, whatever
/// its size.
struct CacheEviction: Sendable {
    private let limits: KizunaSyncLimits
    private let registry: LiveReadRegistry
    private let log: any LogSink

    init(_ limits: KizunaSyncLimits, _ registry: LiveReadRegistry, _ log: any LogSink) {
        self.limits = limits
        self.registry = registry
        self.log = log
    }

    @Sendable func run(in handle: OwnerStoreHandle) async {
        do {
            _ = try await handle.store.evict(
                maximumBytes: limits.cacheBytes, maximumLists: limits.cachedQueries,
                maximumListBytes: limits.queryBytes, keeping: registry.iteratedKeys)
        } catch {
            log.log(LogLine(.warning, "Old cached queries could not be removed from the store"))
        }
    }
}
