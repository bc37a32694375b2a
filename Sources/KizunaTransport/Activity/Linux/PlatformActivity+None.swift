#if !canImport(Darwin) || os(macOS)
    /// Time that the system gives a process before it suspends it; here none is suspended by the system.
    package enum PlatformActivity {
        package static func begin() -> @Sendable () -> Void { {} }
    }
#endif
