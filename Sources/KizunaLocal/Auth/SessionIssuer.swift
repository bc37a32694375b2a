internal import KizunaCore

/// Makes sessions: access tokens, refresh tokens and the answer that carries them.
struct SessionIssuer: Sendable {
    let signer: TokenSigner
    let issuer: String
    let lifetime: Duration
    let reuseInterval: Duration

    /// Opens a session for a user who has just proved who they are.
    func open(
        userID: String, method: String, _ connection: PostgresConnection
    ) throws -> HTTPAnswer {
        let session = try connection.query(
            "INSERT INTO auth.sessions (user_id, method) VALUES ($1, $2) RETURNING id", [userID, method])
        try connection.query("UPDATE auth.users SET last_sign_in_at = now() WHERE id = $1", [userID])
        let sessionID = session.text(0, 0) ?? ""
        let token = try newRefreshToken(userID: userID, sessionID: sessionID, parent: nil, connection)
        return try answer(userID: userID, sessionID: sessionID, refreshToken: token, connection)
    }

    func newRefreshToken(
        userID: String, sessionID: String, parent: String?, _ connection: PostgresConnection
    ) throws -> String {
        let rows = try connection.query(
            """
            INSERT INTO auth.refresh_tokens (token, parent, user_id, session_id)
            SELECT string_agg(substr('abcdefghijklmnopqrstuvwxyz0123456789', 1 + get_byte(bytes, i) % 36, 1), ''),
              $3, $1, $2
            FROM extensions.gen_random_bytes(12) AS random(bytes), generate_series(0, 11) AS places(i)
            RETURNING token
            """, [userID, sessionID, parent])
        return rows.text(0, 0) ?? ""
    }

    /// A session's answer with a fresh access token.
    func answer(
        userID: String, sessionID: String, refreshToken: String, _ connection: PostgresConnection
    ) throws -> HTTPAnswer {
        guard let user = try AuthUser.json(userID, connection) else { throw AuthFailure.tokenNotFound }
        let rows = try connection.query(
            "SELECT method, extract(epoch FROM created_at)::bigint, aal FROM auth.sessions WHERE id = $1", [sessionID])
        let now = WallClock.seconds
        let seconds = Int(lifetime.components.seconds)
        let method = RawJSON.object(
            ("method", .string(rows.text(0, 0) ?? "password")), ("timestamp", .number(rows.integer(0, 1) ?? now)))
        func of(_ name: String) -> RawJSON { user.member(name) ?? .null }
        let access = signer.token([
            .init(name: "iss", value: .string(issuer)), .init(name: "sub", value: of("id")),
            .init(name: "aud", value: of("aud")), .init(name: "exp", value: .number(now + seconds)),
            .init(name: "iat", value: .number(now)), .init(name: "email", value: of("email")),
            .init(name: "phone", value: of("phone")), .init(name: "app_metadata", value: of("app_metadata")),
            .init(name: "user_metadata", value: of("user_metadata")), .init(name: "role", value: of("role")),
            .init(name: "aal", value: .string(rows.text(0, 2) ?? "aal1")),
            .init(name: "amr", value: RawJSON(elements: [method])),
            .init(name: "session_id", value: .string(sessionID)),
            .init(name: "is_anonymous", value: of("is_anonymous")),
        ])
        return .json(
            200,
            .object(
                ("access_token", .string(access)), ("token_type", .string("bearer")),
                ("expires_in", .number(seconds)), ("expires_at", .number(now + seconds)),
                ("refresh_token", .string(refreshToken)), ("user", user)))
    }
}
