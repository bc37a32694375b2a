internal import KizunaCore

/// The user object of the Auth interface.
enum AuthUser {
    /// Nil where there is no such user.
    static func json(_ id: String, _ connection: PostgresConnection) throws -> RawJSON? {
        let rows = try connection.query(statement, [id])
        guard rows.count == 1, let bytes = rows.bytes(0, 0) else { return nil }
        return RawJSON(unchecked: bytes)
    }

    private static func time(_ column: String) -> String {
        "to_char(\(column) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
    }

    /// Times that are not set are left out; a null inside the metadata is not.
    private static let statement = """
        SELECT jsonb_strip_nulls(jsonb_build_object(
            'email_confirmed_at', \(time("u.email_confirmed_at")), 'confirmed_at', \(time("u.email_confirmed_at")),
            'last_sign_in_at', \(time("u.last_sign_in_at")), 'banned_until', \(time("u.banned_until"))))
          || jsonb_build_object(
            'id', u.id, 'aud', u.aud, 'role', u.role, 'email', coalesce(u.email, ''), 'phone', coalesce(u.phone, ''),
            'app_metadata', u.raw_app_meta_data, 'user_metadata', u.raw_user_meta_data,
            'is_anonymous', u.is_anonymous, 'created_at', \(time("u.created_at")),
            'updated_at', \(time("u.updated_at")),
            'identities', coalesce((
              SELECT jsonb_agg(jsonb_build_object(
                'identity_id', i.id, 'id', i.provider_id, 'user_id', i.user_id, 'identity_data', i.identity_data,
                'provider', i.provider, 'last_sign_in_at', \(time("i.last_sign_in_at")),
                'created_at', \(time("i.created_at")), 'updated_at', \(time("i.updated_at")),
                'email', i.identity_data ->> 'email') ORDER BY i.created_at)
              FROM auth.identities i WHERE i.user_id = u.id), '[]'))
        FROM auth.users u WHERE u.id = $1
        """
}
