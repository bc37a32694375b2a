#if canImport(CryptoKit)
    internal import CryptoKit

    /// Digests with CryptoKit.
    package enum PlatformDigest {
        /// The SHA-256 of the text's UTF-8 bytes, as 64 lower-case hexadecimal digits.
        package static func sha256Hex(_ text: String) -> String {
            SHA256.hash(data: Array(text.utf8)).map { byte in
                String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
            }.joined()
        }
    }
#endif
