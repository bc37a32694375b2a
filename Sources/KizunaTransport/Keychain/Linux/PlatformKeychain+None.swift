#if !canImport(Security)
    package import KizunaCore

    /// A Keychain, where the platform has one; this one has none.
    package enum PlatformKeychain {
        package static func open(service: String, accessGroup: String?) throws(SyncError) -> any SecretStore {
            throw SyncError(
                .invalidConfiguration, "This platform has no Keychain; give KizunaAuth a store of the app's own.")
        }
    }
#endif
