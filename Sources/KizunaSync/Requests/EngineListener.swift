package import KizunaCore
package import KizunaStore

/// Hears what happens in the engine: changes of the store, the network, the session and the owner.
///
/// Calls come one at a time per source and in the order of the source: changes of one store in its commit order.
package protocol EngineListener: AnyObject, Sendable {
    func storeChanged(_ change: StoreChange, generation: Int)
    func networkChanged(_ network: NetworkState)
    func sessionChanged(isSettled: Bool)
    /// The rows of the previous owner must not be shown from now on.
    func ownerChanged(generation: Int)
    func storeOpened(_ handle: OwnerStoreHandle)
    func storeFailed(_ error: SyncError)
    /// The client closes.
    func end()
}

extension EngineListener {
    package func networkChanged(_ network: NetworkState) {}
    package func sessionChanged(isSettled: Bool) {}
    package func storeFailed(_ error: SyncError) {}
}
