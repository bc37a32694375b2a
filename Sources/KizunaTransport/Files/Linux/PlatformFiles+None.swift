#if !canImport(Darwin)
    /// What the platform does for files at rest: nothing, here. Who may read them is set by their mode.
    package enum PlatformFiles {
        package static func protect(folder path: String) throws {}
    }
#endif
