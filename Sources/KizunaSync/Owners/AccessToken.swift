internal import Foundation
package import KizunaCore

/// The claims of a JSON Web Token. Only the server checks the signature.
package struct AccessToken: Sendable, Equatable {
    package let text: String
    /// The `sub` claim: the user's id.
    package let userID: String
    /// How long it holds from its making, where it says both; a difference of the server's own times, so that the device's clock
    /// does not matter.
    package let lifetime: Duration?

    /// Reads the claims of a token. Throws if the text is not a token with a subject.
    package init(_ text: String) throws(SyncError) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.isVisibleASCII, parts.count == 3, let payload = Self.decoded(parts[1]),
            let claims = try? RawJSON(validating: payload), let subject = claims.member("sub")?.stringValue,
            !subject.isEmpty
        else {
            throw SyncError(
                .invalidConfiguration,
                "The access token is no JSON Web Token with a subject; pass the session's access token as it is.")
        }
        self.text = text
        userID = subject
        lifetime = Self.lifetime(claims)
    }

    private static func lifetime(_ claims: RawJSON) -> Duration? {
        func seconds(_ name: String) -> Double? { claims.member(name)?.scalarText.flatMap { Double($0) } }
        guard let issued = seconds("iat"), let end = seconds("exp") else { return nil }
        return lifetime(seconds: end - issued)
    }

    /// A number of seconds as time; a year at most, so that no number can break a clock.
    package static func lifetime(seconds: Double) -> Duration { .seconds(max(0, min(seconds, 31_536_000))) }

    private static func decoded(_ part: Substring) -> [UInt8]? {
        var base64 = part.replacing("-", with: "+").replacing("_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        return Data(base64Encoded: String(base64)).map(Array.init)
    }
}
