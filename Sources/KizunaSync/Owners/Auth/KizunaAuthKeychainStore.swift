internal import Foundation
package import KizunaCore
internal import KizunaTransport

/// Keeps `KizunaAuth`'s session in the Keychain, readable after the device's first unlock and on this device alone.
///
/// While the Keychain is locked, `load()` throws and is asked again; the last user's rows stay on screen. An entry that
/// is no session of this package is an error, too, and stays as it is until the next sign-in replaces it.
public struct KizunaAuthKeychainStore: KizunaAuthStore {
    private let secrets: any SecretStore
    private static let account = "session"

    /// Makes a store.
    ///
    /// - Parameters:
    ///   - service: names the entry; one for each project, for example the app's bundle identifier.
    ///   - accessGroup: the Keychain access group, for an app that shares the session with its extensions.
    /// - Throws: `SyncError` with `invalidConfiguration` on a platform without a Keychain.
    public init(service: String, accessGroup: String? = nil) throws {
        self.init(secrets: try PlatformKeychain.open(service: service, accessGroup: accessGroup))
    }

    package init(secrets: any SecretStore) { self.secrets = secrets }

    /// The kept session, nil where there is none.
    ///
    /// - Throws: `SyncError` with `storage` while the Keychain cannot be read.
    public func load() async throws -> KizunaAuthSession? {
        guard let bytes = try secrets.read(Self.account) else { return nil }
        do {
            return try JSONDecoder().decode(KizunaAuthSession.self, from: Data(bytes))
        } catch {
            // Without the cause: it may quote the entry.
            throw SyncError(.storage, "The Keychain's entry is no session; the next sign-in replaces it.")
        }
    }

    /// Keeps a session, or removes the entry.
    ///
    /// - Throws: `SyncError` with `storage` while the Keychain cannot be written.
    public func save(_ session: KizunaAuthSession?) async throws {
        guard let session else { return try secrets.write(nil, Self.account) }
        try secrets.write(Array(JSONEncoder().encode(session)), Self.account)
    }
}
