import KizunaCore
import KizunaLocal
import Testing

@Suite struct TokenSignerTests {
    private let signer = TokenSigner(secret: "your-256-bit-secret")

    @Test func theSignatureIsTheStandardOne() throws {
        // The widely published example of a token.
        let token =
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."
            + "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ."
            + "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
        let claims = try RawJSON(validating: Array(#"{"sub":"1234567890","name":"John Doe","iat":1516239022}"#.utf8))
        #expect(signer.token(try claims.objectMembers()) == token)
        #expect(try signer.claims(of: token) == claims)
    }

    @Test func aChangedTokenIsRefused() {
        let token = signer.token([.init(name: "role", value: RawJSON(string: "anon"))])
        let parts = token.split(separator: ".").map(String.init)
        let other = TokenSigner(secret: "other").token([.init(name: "role", value: RawJSON(string: "service_role"))])
            .split(separator: ".").map(String.init)
        #expect(throws: TokenSigner.Fault.signature) { try signer.claims(of: "\(parts[0]).\(other[1]).\(parts[2])") }
        #expect(throws: TokenSigner.Fault.signature) { try signer.claims(of: other.joined(separator: ".")) }
        #expect(throws: TokenSigner.Fault.signature) { try signer.claims(of: "\(parts[0]).\(parts[1]).") }
        #expect(throws: TokenSigner.Fault.partCount(2)) { try signer.claims(of: "a.b") }
        #expect(throws: TokenSigner.Fault.empty) { try signer.claims(of: "") }
        #expect(throws: TokenSigner.Fault.unreadable) { try signer.claims(of: "!.\(parts[1]).\(parts[2])") }
    }

    @Test func aTokenWithoutASignatureIsRefused() {
        // {"alg":"none"}
        #expect(throws: TokenSigner.Fault.algorithm) { try signer.claims(of: "eyJhbGciOiJub25lIn0.e30.") }
    }
}
