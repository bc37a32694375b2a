internal import KizunaCore

/// One REST request on one connection: one transaction under the asking role.
struct RestSession {
    let call: RestCall
    let request: HTTPRequest
    let identity: RequestIdentity
    let settings: LocalSettings
    let connection: PostgresConnection

    func answer(_ shapes: SchemaCache) throws -> HTTPAnswer {
        guard let shape = try shapes.table(call.schema, call.table, columns: call.namedColumns, connection) else {
            throw RestFailure.noTable(call.schema, call.table)
        }
        switch call.action {
        case .read(let isHead): return try read(shape, isHead: isHead)
        case .options:
            let methods = "OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE"
            return HTTPAnswer(
                status: 200,
                headers: [HTTPHeader("Allow", methods), HTTPHeader("Access-Control-Allow-Origin", "*")])
        case .insert, .replace, .update, .delete: return try write(shape)
        }
    }

    /// Runs the body in a transaction with the role, the claims and the request as settings.
    func transaction<Outcome>(isReadOnly: Bool, _ body: () throws -> Outcome) throws -> Outcome {
        try connection.run(script: isReadOnly ? "BEGIN READ ONLY" : "BEGIN")
        do {
            try configure()
            let outcome = try body()
            try connection.run(script: call.preferences.transaction == .rollback ? "ROLLBACK" : "COMMIT")
            return outcome
        } catch {
            connection.rollBack()
            throw error
        }
    }

    private func configure() throws(PostgresFailure) {
        let path = [call.schema, "public", "extensions"].map(SQLText.quoted).joined(separator: ", ")
        let headers = RawJSON(
            members: request.headers.map { .init(name: $0.name.lowercased(), value: .string($0.value)) })
        try connection.query(
            """
            SELECT set_config('search_path', $1, true), set_config('request.jwt.claims', $2, true),
              set_config('request.method', $3, true), set_config('request.path', $4, true),
              set_config('request.headers', $5, true), set_config('role', $6, true)
            """,
            [
                path, identity.claims.text, request.method, String(request.path.dropFirst("/rest/v1".count)),
                headers.text, identity.role,
            ])
        if let timezone = call.preferences.timezone {
            try connection.query("SELECT set_config('timezone', $1, true)", [timezone])
        }
    }

    /// The headers that every answer with a body has.
    var bodyHeaders: [HTTPHeader] {
        [HTTPHeader("Content-Type", call.form.contentType)] + (call.profileHeader.map { [$0] } ?? [])
    }

    /// `from-to/total`, with `*` for what there is not or is not known.
    static func contentRange(from lower: Int, count: Int, total: Int?) -> HTTPHeader {
        let rows = count > 0 && total != 0 ? "\(lower)-\(lower + count - 1)" : "*"
        return HTTPHeader("Content-Range", "\(rows)/\(total.map(String.init) ?? "*")")
    }
}
