internal import KizunaCore

/// An error answer of the REST interface: PostgREST's four members, a status, and headers.
package struct RestFailure: Error, Sendable, Equatable {
    package var status: Int
    package var code: String
    package var message: String
    package var details: String?
    package var hint: String?
    package var headers: [HTTPHeader] = []

    init(_ status: Int, _ code: String, _ message: String, details: String? = nil, hint: String? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.details = details
        self.hint = hint
    }

    func answer(isHead: Bool) -> HTTPAnswer {
        let body = RawJSON.object(
            ("code", .string(code)), ("details", .string(orNull: details)), ("hint", .string(orNull: hint)),
            ("message", .string(message)))
        var answer = HTTPAnswer.json(
            status, body, headers: [HTTPHeader("Proxy-Status", "PostgREST; error=\(code)")] + headers)
        if isHead { answer.body = [] }
        return answer
    }
}

extension RestFailure {
    /// Text of the request that cannot be read.
    static func unreadable(_ what: String, _ text: String, at position: Int, _ details: String) -> RestFailure {
        RestFailure(
            400, "PGRST100", "\"failed to parse \(what) (\(text))\" (line 1, column \(position))", details: details)
    }

    static func badBody(_ message: String) -> RestFailure { RestFailure(400, "PGRST102", message) }

    static func invalidPreferences(_ preferences: [String]) -> RestFailure {
        RestFailure(
            400, "PGRST122", "Invalid preferences given with handling=strict",
            details: "Invalid preferences: \(preferences.joined(separator: ", "))")
    }

    static func badRange(_ details: String) -> RestFailure {
        RestFailure(416, "PGRST103", "Requested range not satisfiable", details: details)
    }

    static func offsetPastEnd(_ offset: Int, total: Int) -> RestFailure {
        badRange("An offset of \(offset) was requested, but there are only \(total) rows.")
    }

    static func notOneRow(_ count: Int) -> RestFailure {
        RestFailure(
            406, "PGRST116", "Cannot coerce the result to a single JSON object",
            details: "The result contains \(count) rows")
    }

    static func notEmbedded(_ name: String) -> RestFailure {
        RestFailure(
            400, "PGRST108", "'\(name)' is not an embedded resource in this request",
            hint: "Verify that '\(name)' is included in the 'select' query parameter.")
    }

    static func noTable(_ schema: String, _ table: String) -> RestFailure {
        RestFailure(404, "PGRST205", "Could not find the table '\(schema).\(table)' in the schema cache")
    }

    static func noColumn(_ column: String, of table: String) -> RestFailure {
        RestFailure(400, "PGRST204", "Could not find the '\(column)' column of '\(table)' in the schema cache")
    }

    /// What PostgREST can do and this backend cannot yet; a code of our own, so that nobody takes it for PostgREST's.
    static func notServed(_ what: String) -> RestFailure {
        RestFailure(501, "KZ501", "The local backend does not serve \(what) yet")
    }

    static func badToken(_ code: String, _ message: String, details: String? = nil) -> RestFailure {
        var failure = RestFailure(401, code, message, details: details)
        failure.headers = [
            HTTPHeader("WWW-Authenticate", "Bearer error=\"invalid_token\", error_description=\"\(message)\"")
        ]
        return failure
    }
}
