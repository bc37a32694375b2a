#if !canImport(Darwin)
    /// Protection of files at rest: none on this platform besides the file mode.
    package enum PlatformFiles {
        package static func protect(folder path: String) throws {}
    }
#endif
