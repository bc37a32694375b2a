internal import CSoup
internal import Foundation
package import KizunaCore

/// Makes and reads JSON web tokens signed with HMAC-SHA256.
package struct TokenSigner: Sendable {
    private let secret: [UInt8]

    package init(secret: String) { self.secret = Array(secret.utf8) }

    /// Why a text is no token of ours.
    package enum Fault: Error, Equatable {
        case empty
        case partCount(Int)
        case unreadable
        case algorithm
        case signature
        case claims
    }

    /// A token of these claims, in this order.
    package func token(_ claims: [RawJSON.Member]) -> String {
        let head = Base64URL.text(Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8))
        let signed = head + "." + Base64URL.text(RawJSON(members: claims).bytes)
        return signed + "." + Base64URL.text(signature(of: signed))
    }

    /// The claims of a token whose signature is right. Times are not looked at.
    package func claims(of token: String) throws(Fault) -> RawJSON {
        guard !token.isEmpty else { throw .empty }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .partCount(parts.count) }
        guard let head = Base64URL.bytes(parts[0]), let headJSON = try? RawJSON(validating: head) else {
            throw .unreadable
        }
        guard headJSON.member("alg")?.stringValue == "HS256" else { throw .algorithm }
        guard let given = Base64URL.bytes(parts[2]), Self.areEqual(given, signature(of: parts[0] + "." + parts[1]))
        else { throw .signature }
        guard let body = Base64URL.bytes(parts[1]), let claims = try? RawJSON(validating: body), claims.kind == .object
        else { throw .claims }
        return claims
    }

    private func signature(of text: String) -> [UInt8] {
        let mac = g_hmac_new(G_CHECKSUM_SHA256, secret, gsize(secret.count))
        defer { g_hmac_unref(mac) }
        let bytes = Array(text.utf8)
        g_hmac_update(mac, bytes, gssize(bytes.count))
        var digest = [UInt8](repeating: 0, count: 32)
        var length = gsize(digest.count)
        g_hmac_get_digest(mac, &digest, &length)
        return digest
    }

    /// Compares in a time that does not depend on where the first difference is.
    private static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// The base64 of web tokens: `-` and `_`, no padding.
enum Base64URL {
    static func text(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        guard text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "=") })
        else { return nil }
        var padded = String(text).replacing("-", with: "+").replacing("_", with: "/")
        padded += String(repeating: "=", count: (4 - padded.utf8.count % 4) % 4)
        return Data(base64Encoded: padded).map(Array.init)
    }
}
