#if canImport(CSoup)
    package import KizunaCore

    /// The HTTP transport this platform uses.
    package enum PlatformTransport {
        /// Creates a transport that accepts bodies up to this size.
        package static func http(maximumBodyBytes: Int = 256 << 20) -> any WireTransport {
            SoupTransport(maximumBodyBytes: maximumBodyBytes)
        }
    }
#endif
