internal import KizunaCore

/// Who asks: the role for PostgreSQL, and the claims for the policies.
struct RequestIdentity: Sendable {
    let role: String
    let claims: RawJSON

    var isAnonymous: Bool { role == "anon" }

    /// Clocks differ; a token may be this many seconds too old or too young.
    private static let leeway = 30

    /// The bearer token counts; without one the `apikey`, where it is a token; else nobody.
    static func of(_ request: HTTPRequest, _ signer: TokenSigner, now: Int) throws(RestFailure) -> RequestIdentity {
        if let header = request.header("Authorization") {
            let parts = header.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            if parts[0].lowercased() == "bearer" {
                let token = parts.count > 1 ? String(parts[1]).trimmingBlanks : ""
                return try identity(token, signer, now)
            }
        }
        if let key = request.header("apikey"), key.split(separator: ".").count == 3 {
            return try identity(key, signer, now)
        }
        return RequestIdentity(role: "anon", claims: .object(("role", .string("anon"))))
    }

    private static func identity(
        _ token: String, _ signer: TokenSigner, _ now: Int
    ) throws(RestFailure) -> RequestIdentity {
        let claims: RawJSON
        do throws(TokenSigner.Fault) { claims = try signer.claims(of: token) } catch { throw failure(error) }
        try checkTimes(claims, now)
        let role = claims.member("role").map { $0.scalarText ?? $0.text } ?? "anon"
        guard !role.utf8.contains(0) else { throw .badToken("PGRST303", "Parsing claims failed") }
        return RequestIdentity(role: role, claims: claims.merging([.init(name: "role", value: .string(role))]))
    }

    private static func checkTimes(_ claims: RawJSON, _ now: Int) throws(RestFailure) {
        if let time = try seconds("exp", claims), now - leeway > time { throw .badToken("PGRST303", "JWT expired") }
        if let time = try seconds("nbf", claims), now + leeway < time {
            throw .badToken("PGRST303", "JWT not yet valid")
        }
        if let time = try seconds("iat", claims), now + leeway < time {
            throw .badToken("PGRST303", "JWT issued at future")
        }
    }

    private static func seconds(_ name: String, _ claims: RawJSON) throws(RestFailure) -> Int? {
        guard let value = claims.member(name), !value.isNull else { return nil }
        guard value.kind == .number, let number = Double(value.text) else {
            throw .badToken("PGRST303", "The JWT '\(name)' claim must be a number")
        }
        // A number beyond the range of `Int` counts as its nearest end.
        return Int(exactly: number.rounded(.down)) ?? (number < 0 ? Int.min : Int.max)
    }

    private static func failure(_ fault: TokenSigner.Fault) -> RestFailure {
        switch fault {
        case .empty: .badToken("PGRST301", "Empty JWT is sent in Authorization header")
        case .partCount(let count): .badToken("PGRST301", "Expected 3 parts in JWT; got \(count)")
        case .signature:
            .badToken(
                "PGRST301", "No suitable key or wrong key type",
                details: "None of the keys was able to decode the JWT")
        case .unreadable: .badToken("PGRST301", "JWT cryptographic operation failed")
        case .algorithm: .badToken("PGRST301", "Wrong or unsupported encoding algorithm")
        case .claims: .badToken("PGRST303", "Parsing claims failed")
        }
    }
}
