package import KizunaStore

/// An open store with the generation of its owner. Work that starts with a handle ends with the same handle: a response to a
/// request of a previous owner cannot be written into the current owner's store.
package struct OwnerStoreHandle: Sendable {
    package let store: OwnerStore
    package let owner: OwnerID
    package let generation: Int
}
