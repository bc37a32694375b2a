internal import KizunaCore

/// One request to the Auth interface on one connection.
struct AuthCall {
    let request: HTTPRequest
    let path: String
    let signer: TokenSigner
    let issuer: SessionIssuer
    let connection: PostgresConnection

    func answer() throws -> HTTPAnswer {
        switch (request.method, path) {
        case ("POST", "/signup"): return try signUp()
        case ("POST", "/token"): return try token()
        case ("GET", "/user"): return try userAnswer(bearer().userID)
        case ("PUT", "/user"): return try updateUser()
        case ("POST", "/logout"): return try logOut()
        default: throw AuthFailure(404, "not_found", "\(request.method) \(path) is not served by the local backend")
        }
    }

    private func token() throws -> HTTPAnswer {
        let grant = try QueryText.pairs(request.query ?? "").first { $0.name == "grant_type" }?.value
        switch grant {
        case "password": return try signIn()
        case "refresh_token": return try TokenRotation(issuer: issuer, connection: connection).refresh(body())
        default: throw AuthFailure(400, "invalid_credentials", "unsupported_grant_type")
        }
    }

    func body() throws(AuthFailure) -> RawJSON {
        guard String(validating: request.body, as: UTF8.self) != nil, let body = try? RawJSON(validating: request.body),
            body.kind == .object
        else {
            throw AuthFailure(400, "bad_json", "Could not parse request body as JSON")
        }
        return body
    }

    func userAnswer(_ id: String) throws -> HTTPAnswer {
        guard let user = try AuthUser.json(id, connection) else {
            throw AuthFailure(403, "user_not_found", "User from sub claim in JWT does not exist")
        }
        return .json(200, user)
    }

    /// The user and the session that the bearer token names.
    func bearer() throws -> (userID: String, sessionID: String?) {
        let parts = (request.header("Authorization") ?? "").split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { throw AuthFailure.noAuthorization }
        guard let claims = try? signer.claims(of: String(parts[1])) else {
            throw AuthFailure.badToken("unable to parse or verify signature")
        }
        guard let expiry = claims.member("exp")?.integerValue, expiry > WallClock.seconds else {
            throw AuthFailure.badToken("token is expired")
        }
        guard let userID = claims.member("sub")?.stringValue, !userID.isEmpty else {
            throw AuthFailure(403, "bad_jwt", "invalid claim: missing sub claim")
        }
        let user = try connection.query("SELECT FROM auth.users WHERE id::text = $1", [userID])
        guard user.count == 1 else {
            throw AuthFailure(403, "user_not_found", "User from sub claim in JWT does not exist")
        }
        guard let sessionID = claims.member("session_id")?.stringValue else { return (userID, nil) }
        let session = try connection.query("SELECT FROM auth.sessions WHERE id::text = $1", [sessionID])
        guard session.count == 1 else {
            throw AuthFailure(403, "session_not_found", "Session from session_id claim in JWT does not exist")
        }
        return (userID, sessionID)
    }

    private func logOut() throws -> HTTPAnswer {
        let scope = try QueryText.pairs(request.query ?? "").first { $0.name == "scope" }?.value ?? "global"
        let (userID, sessionID) = try bearer()
        switch scope {
        case "global": try connection.query("DELETE FROM auth.sessions WHERE user_id = $1", [userID])
        case "local": try connection.query("DELETE FROM auth.sessions WHERE id = $1", [sessionID])
        case "others":
            try connection.query(
                "DELETE FROM auth.sessions WHERE user_id = $1 AND id IS DISTINCT FROM $2", [userID, sessionID])
        default: throw AuthFailure.invalid("Unsupported logout scope \"\(scope)\"")
        }
        return HTTPAnswer(status: 204)
    }
}
