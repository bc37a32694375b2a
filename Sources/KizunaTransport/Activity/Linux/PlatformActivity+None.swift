#if !canImport(Darwin) || os(macOS)
    /// Assertions against suspension; this platform does not suspend processes.
    package enum PlatformActivity {
        package static func begin() -> @Sendable () -> Void { {} }
    }
#endif
