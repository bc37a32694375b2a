package import KizunaCore
package import KizunaStore
internal import Synchronization

/// Holds the live reads that are iterated, in the order in which they began. Reads that show the cache first share one
/// runner per request.
package final class LiveReadRegistry: Sendable {
    /// A collector's place in a live read.
    package struct Membership: Sendable {
        package let read: LiveReadRunner
        package let id: Int
        package let channel: LatestValueChannel<RawSnapshot>
    }

    private struct State {
        var reads: [LiveReadRunner] = []
        var shared: [String: LiveReadRunner] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    package init() {}

    package var reads: [LiveReadRunner] { state.withLock { $0.reads } }

    /// The cache keys of the reads.
    package var iteratedKeys: Set<String> { Set(reads.map(\.cacheKey)) }

    /// Joins the shared read of the same request, or registers `fresh`. Throws `closed` after `end()`.
    package func join(_ fresh: LiveReadRunner, isShared: Bool) throws(SyncError) -> Membership {
        let joined = state.withLock { state -> Membership? in
            guard !state.isClosed else { return nil }
            if isShared, let read = state.shared[fresh.cacheKey], let joined = read.join() {
                return Membership(read: read, id: joined.id, channel: joined.channel)
            }
            guard let joined = fresh.join() else { return nil }
            state.reads.append(fresh)
            if isShared { state.shared[fresh.cacheKey] = fresh }
            return Membership(read: fresh, id: joined.id, channel: joined.channel)
        }
        guard let joined else { throw SyncError(.closed, "The client is closed.") }
        return joined
    }

    /// Removes a collector; the last one ends the read.
    package func leave(_ member: Membership) {
        let read = member.read
        let isLast = state.withLock { state in
            guard read.leave(member.id) else { return false }
            state.reads.removeAll { $0 === read }
            if state.shared[read.cacheKey] === read { state.shared[read.cacheKey] = nil }
            return true
        }
        if isLast { read.end() }
    }
}

extension LiveReadRegistry: EngineListener {
    package func storeChanged(_ change: StoreChange, generation: Int) {
        for read in reads { read.storeChanged(change, generation: generation) }
    }

    package func networkChanged(_ network: NetworkState) {
        for read in reads { read.networkChanged(network) }
    }

    package func sessionChanged(isSettled: Bool) {
        for read in reads { read.sessionChanged(isSettled: isSettled) }
    }

    package func ownerChanged(generation: Int) {
        for read in reads { read.ownerChanged(generation: generation) }
    }

    package func storeOpened(_ handle: OwnerStoreHandle) {
        for read in reads { read.storeOpened(handle) }
    }

    package func storeFailed(_ error: SyncError) {
        for read in reads { read.end(.failure(error)) }
    }

    package func end() {
        let reads = state.withLock { state in
            defer { state = State(isClosed: true) }
            return state.reads
        }
        for read in reads { read.end() }
    }
}
