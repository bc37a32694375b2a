internal import KizunaCore

extension AuthCall {
    func signUp() throws -> HTTPAnswer {
        let body = try body()
        let data = body.member("data").flatMap { $0.kind == .object ? $0.text : nil } ?? "{}"
        if let phone = body.member("phone")?.stringValue, !phone.isEmpty {
            throw AuthFailure(422, "phone_provider_disabled", "Phone signups are disabled")
        }
        guard let email = body.member("email")?.stringValue, !email.isEmpty else {
            return try signUpAnonymously(data)
        }
        guard let password = body.member("password")?.stringValue, !password.isEmpty else {
            throw AuthFailure.invalid("Signup requires a valid password")
        }
        let address = try Self.checkedEmail(email)
        try Self.checkPassword(password)
        return try connection.transaction {
            let rows = try connection.query(
                """
                INSERT INTO auth.users
                  (email, encrypted_password, email_confirmed_at, raw_app_meta_data, raw_user_meta_data)
                VALUES ($1, extensions.crypt($2, extensions.gen_salt('bf')), now(),
                  '{"provider": "email", "providers": ["email"]}', $3::jsonb)
                ON CONFLICT ((lower(email))) DO NOTHING RETURNING id
                """, [address, password, data])
            guard let id = rows.count == 1 ? rows.text(0, 0) : nil else {
                throw AuthFailure(422, "user_already_exists", "User already registered")
            }
            try connection.query(
                """
                INSERT INTO auth.identities (provider_id, user_id, identity_data, provider, last_sign_in_at)
                VALUES ($1::text, $1::uuid, $3::jsonb
                  || jsonb_build_object('sub', $1::text, 'email', $2::text, 'email_verified', true, 'phone_verified', false),
                  'email', now())
                """, [id, address, data])
            return try issuer.open(userID: id, method: "password", connection)
        }
    }

    private func signUpAnonymously(_ data: String) throws -> HTTPAnswer {
        try connection.transaction {
            let rows = try connection.query(
                "INSERT INTO auth.users (is_anonymous, raw_user_meta_data) VALUES (true, $1::jsonb) RETURNING id",
                [data])
            return try issuer.open(userID: rows.text(0, 0) ?? "", method: "anonymous", connection)
        }
    }

    func signIn() throws -> HTTPAnswer {
        let body = try body()
        guard let email = body.member("email")?.stringValue, let password = body.member("password")?.stringValue else {
            throw AuthFailure.invalid("missing email or phone")
        }
        return try connection.transaction {
            let rows = try connection.query(
                """
                SELECT id, coalesce(banned_until > now(), false) FROM auth.users
                WHERE lower(email) = lower($1) AND encrypted_password = extensions.crypt($2, encrypted_password)
                """, [email, password])
            guard rows.count == 1, let id = rows.text(0, 0) else { throw AuthFailure.invalidCredentials }
            guard rows.text(0, 1) != "t" else { throw AuthFailure.userBanned }
            return try issuer.open(userID: id, method: "password", connection)
        }
    }

    func updateUser() throws -> HTTPAnswer {
        let (userID, _) = try bearer()
        let body = try body()
        try connection.transaction {
            if let password = body.member("password")?.stringValue {
                try changePassword(of: userID, to: password)
            }
            if let email = body.member("email")?.stringValue, !email.isEmpty {
                try changeEmail(of: userID, to: Self.checkedEmail(email))
            }
            if let data = body.member("data"), data.kind == .object {
                // A null takes its key away; the rest is laid over what is there.
                try connection.query(
                    """
                    UPDATE auth.users SET updated_at = now(), raw_user_meta_data = (
                      SELECT coalesce(jsonb_object_agg(key, value), '{}')
                      FROM jsonb_each(raw_user_meta_data || $2::jsonb)
                      WHERE NOT ($2::jsonb ? key AND value = 'null'))
                    WHERE id = $1
                    """, [userID, data.text])
            }
        }
        return try userAnswer(userID)
    }

    private func changePassword(of userID: String, to password: String) throws {
        try Self.checkPassword(password)
        let same = try connection.query(
            "SELECT FROM auth.users WHERE id = $1 AND encrypted_password = extensions.crypt($2, encrypted_password)",
            [userID, password])
        guard same.count == 0 else {
            throw AuthFailure(
                422, "same_password", "New password should be different from the old password.")
        }
        try connection.query(
            """
            UPDATE auth.users SET encrypted_password = extensions.crypt($2, extensions.gen_salt('bf')),
              updated_at = now() WHERE id = $1
            """, [userID, password])
    }

    private func changeEmail(of userID: String, to email: String) throws {
        let taken = try connection.query(
            "SELECT FROM auth.users WHERE lower(email) = $2 AND id <> $1", [userID, email])
        guard taken.count == 0 else { throw AuthFailure.emailExists }
        try connection.query(
            """
            UPDATE auth.users SET email = $2, email_confirmed_at = coalesce(email_confirmed_at, now()),
              updated_at = now() WHERE id = $1
            """, [userID, email])
        try connection.query(
            """
            UPDATE auth.identities SET identity_data = identity_data || jsonb_build_object('email', $2::text),
              updated_at = now() WHERE user_id = $1 AND provider = 'email'
            """, [userID, email])
    }

    private static func checkedEmail(_ email: String) throws(AuthFailure) -> String {
        let parts = email.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && !$0.contains(" ") }) else {
            throw .invalid("Unable to validate email address: invalid format")
        }
        return email.lowercased()
    }

    private static func checkPassword(_ password: String) throws(AuthFailure) {
        guard password.count >= 6 else {
            throw AuthFailure(
                422, "weak_password", "Password should be at least 6 characters.", reasons: ["length"])
        }
        // bcrypt reads no further than this.
        guard password.utf8.count <= 72 else {
            throw .invalid("Password cannot be longer than 72 characters")
        }
    }
}
