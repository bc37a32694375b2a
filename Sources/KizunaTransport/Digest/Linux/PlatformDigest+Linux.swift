#if canImport(CSoup)
    internal import CSoup

    /// Digests with GLib.
    package enum PlatformDigest {
        /// The SHA-256 of the text's UTF-8 bytes, as 64 lower-case hexadecimal digits.
        package static func sha256Hex(_ text: String) -> String {
            let bytes = Array(text.utf8)
            guard let digest = g_compute_checksum_for_data(G_CHECKSUM_SHA256, bytes, gsize(bytes.count)) else {
                preconditionFailure("PlatformDigest: GLib knows no SHA-256")
            }
            defer { g_free(digest) }
            return String(cString: digest)
        }
    }
#endif
