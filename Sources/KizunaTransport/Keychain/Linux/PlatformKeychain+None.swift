#if !canImport(Security)
    package import KizunaCore

    /// The Keychain; this platform has none.
    package enum PlatformKeychain {
        package static func open(service: String, accessGroup: String?) throws(SyncError) -> any SecretStore {
            throw SyncError(
                .invalidConfiguration, "This platform has no Keychain; give KizunaAuth a store of the app's own.")
        }
    }
#endif
