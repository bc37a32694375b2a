internal import KizunaCore

/// What happens when a refresh token is used.
///
/// An active token is revoked and a child takes its place. A revoked token is
/// 1. answered with the active token again, where it is that token's parent: the client lost the answer,
/// 2. given a child of its own, where it was revoked within the reuse interval: two parts of an app raced,
/// 3. otherwise a sign of theft: the whole session ends.
struct TokenRotation {
    let issuer: SessionIssuer
    let connection: PostgresConnection

    func refresh(_ body: RawJSON) throws -> HTTPAnswer {
        guard let token = body.member("refresh_token")?.stringValue, !token.isEmpty else {
            throw AuthFailure.invalid("refresh_token required")
        }
        guard token.utf8.count >= 12 else { throw AuthFailure.invalid("Refresh token is not valid") }
        // The end of a session must be committed although its answer is an error.
        let outcome: Result<HTTPAnswer, AuthFailure> = try connection.transaction {
            do throws(AuthFailure) { return .success(try use(token)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    private func use(_ token: String) throws(AuthFailure) -> HTTPAnswer {
        do {
            return try rotate(token)
        } catch let failure as AuthFailure {
            throw failure
        } catch {
            throw AuthFailure(500, "unexpected_failure", "\((error as? PostgresFailure)?.message ?? "")")
        }
    }

    private func rotate(_ token: String) throws -> HTTPAnswer {
        // Uses of one session follow one another, so that each sees what the one before it did.
        try connection.query(
            """
            SELECT FROM auth.sessions WHERE id = (SELECT session_id FROM auth.refresh_tokens WHERE token = $1)
            FOR UPDATE
            """, [token])
        let rows = try connection.query(
            """
            SELECT t.user_id, t.session_id, t.revoked, coalesce(u.banned_until > now(), false),
              t.updated_at + make_interval(secs => $2) > clock_timestamp()
            FROM auth.refresh_tokens t JOIN auth.users u ON u.id = t.user_id WHERE t.token = $1
            """, [token, String(issuer.reuseInterval.components.seconds)])
        guard rows.count == 1, let userID = rows.text(0, 0), let sessionID = rows.text(0, 1) else {
            throw AuthFailure.tokenNotFound
        }
        guard rows.text(0, 3) != "t" else { throw AuthFailure.userBanned }
        if rows.text(0, 2) == "t" {
            let active = try connection.query(
                """
                SELECT token, parent FROM auth.refresh_tokens WHERE session_id = $1 AND NOT revoked
                ORDER BY id DESC LIMIT 1
                """, [sessionID])
            if active.count == 1, active.text(0, 1) == token, let current = active.text(0, 0) {
                return try issuer.answer(userID: userID, sessionID: sessionID, refreshToken: current, connection)
            }
            guard rows.text(0, 4) == "t", active.count == 1 else {
                try connection.query(
                    "UPDATE auth.refresh_tokens SET revoked = true WHERE session_id = $1", [sessionID])
                throw AuthFailure.tokenAlreadyUsed
            }
        } else {
            try connection.query(
                "UPDATE auth.refresh_tokens SET revoked = true, updated_at = clock_timestamp() WHERE token = $1",
                [token])
        }
        let child = try issuer.newRefreshToken(userID: userID, sessionID: sessionID, parent: token, connection)
        return try issuer.answer(userID: userID, sessionID: sessionID, refreshToken: child, connection)
    }
}
