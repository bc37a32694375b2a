package import KizunaCore
internal import KizunaStore
internal import KizunaTransport

extension Engine {
    /// What a test replaces; nil is the real thing.
    package struct Dependencies: Sendable {
        package var environment: SyncEnvironment?
        package var transport: (any WireTransport)?
        /// Keeps stores in memory.
        package var isInMemory = false
        /// Called immediately before each commit. A thrown error makes the commit fail.
        package var willCommit: (@Sendable () throws(SyncError) -> Void)?
        /// The signal between the processes that share the store file at a path.
        package var changeSignal: @Sendable (_ path: String) -> (any ChangeSignal)? = { PlatformSignal.of($0) }
        /// How long a process holds the lease of the queue without renewing it.
        package var leaseLength = Lease.defaultLength

        package init() {}
    }
}
