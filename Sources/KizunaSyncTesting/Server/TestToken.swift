public import Foundation
internal import KizunaCore

/// Unsigned access tokens for tests: JSON Web Tokens with a subject and an expiry, whose algorithm is `none`.
public enum TestToken {
    /// Returns a token of a user.
    ///
    /// - Parameters:
    ///   - userID: the subject.
    ///   - expiresAt: the expiry; a simulated server rejects the token from then on. Nil is no expiry.
    ///   - serial: distinguishes two tokens of one user.
    /// - Returns: The token's text.
    public static func make(userID: String, expiresAt: Date? = nil, serial: Int = 0) -> String {
        var claims: [RawJSON.Member] = [
            .init(name: "sub", value: RawJSON(string: userID)),
            .init(name: "role", value: RawJSON(string: "authenticated")),
            .init(name: "jti", value: RawJSON(string: "\(serial)")),
        ]
        if let expiresAt {
            let seconds = Int(expiresAt.timeIntervalSince1970)
            claims.append(.init(name: "exp", value: RawJSON(unchecked: Array("\(seconds)".utf8))))
        }
        let head = #"{"alg":"none","typ":"JWT"}"#
        return "\(encoded(Array(head.utf8))).\(encoded(RawJSON(members: claims).bytes)).unsigned"
    }

    /// Returns the claims of a token; nil if the text is not a token.
    static func claims(of token: String) -> (userID: String, expiresAt: Date?)? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = decoded(parts[1]), let claims = try? RawJSON(validating: payload),
            let userID = claims.member("sub")?.stringValue
        else { return nil }
        let expiry = claims.member("exp")?.scalarText.flatMap { Double($0) }
        return (userID, expiry.map { Date(timeIntervalSince1970: $0) })
    }

    private static func encoded(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func decoded(_ part: Substring) -> [UInt8]? {
        var base64 = String(part).replacing("-", with: "+").replacing("_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        return Data(base64Encoded: base64).map(Array.init)
    }
}
