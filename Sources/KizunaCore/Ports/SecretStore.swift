/// The port to the platform's place for small secrets, such as the Keychain.
package protocol SecretStore: Sendable {
    /// The secret of an account; nil where there is none. Throws `storage` while it cannot be read.
    func read(_ account: String) throws(SyncError) -> [UInt8]?
    /// Keeps the secret of an account in place of the former one; nil removes it.
    func write(_ secret: [UInt8]?, _ account: String) throws(SyncError)
}
