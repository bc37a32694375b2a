#if !canImport(BackgroundTasks) || os(macOS)
    internal import KizunaCore

    /// Background runs on platforms without them: Linux, macOS, watchOS.
    package enum PlatformBackground {
        package static func register(
            _ identifier: String, onGrant: @escaping @Sendable (any BackgroundGrant) -> Void
        ) -> Bool { false }

        package static func request(_ identifier: String, _ kind: BackgroundTaskKind, after delay: Duration) throws {
            throw SyncError(.invalidConfiguration, "This platform grants no background runs.")
        }
    }
#endif
