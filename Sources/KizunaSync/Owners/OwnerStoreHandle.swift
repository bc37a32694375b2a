package import KizunaStore

/// An open vault with the generation of its owner. Whatever is begun with a handle is only ever finished with the same
/// one: a request of a former owner cannot be written for the present one.
package struct OwnerStoreHandle: Sendable {
    package let store: OwnerStore
    package let owner: OwnerID
    package let generation: Int
}
