#if canImport(Darwin)
    package import KizunaCore

    /// The HTTP transport this platform uses.
    package enum PlatformTransport {
        /// Makes a transport that takes bodies up to this size.
        package static func http(maximumBodyBytes: Int = 256 << 20) -> any WireTransport {
            URLSessionTransport(maximumBodyBytes: maximumBodyBytes)
        }
    }
#endif
