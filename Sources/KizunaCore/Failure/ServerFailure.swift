/// An error answer of the server, in PostgREST's four members plus the HTTP status.
///
/// `code` is a SQLSTATE (`23505`), a PostgREST code (`PGRST116`), or nil where something other than PostgREST
/// answered (a proxy's HTML page). The texts are the server's own and may quote row values.
///
/// See docs/spec/postgrest.md, Error bodies; docs/spec/writes.md, Responses and outcomes.
public struct ServerFailure: Sendable, Hashable {
    /// The HTTP status.
    public let status: Int
    /// SQLSTATE or PostgREST code, where the body carried one.
    public let code: String?
    /// The server's sentence, where the body carried one.
    public let message: String?
    /// The server's details, where the body carried them.
    public let details: String?
    /// The server's hint, where the body carried one.
    public let hint: String?

    /// Makes a failure from its members.
    public init(status: Int, code: String? = nil, message: String? = nil, details: String? = nil, hint: String? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.details = details
        self.hint = hint
    }

    /// Reads PostgREST's error body; a body of any other shape gives a failure with the status alone.
    package init(status: Int, body: [UInt8]) {
        let members = (try? RawJSON(validating: body).objectMembers()) ?? []
        func text(_ name: String) -> String? {
            members.last { $0.name == name }?.value.stringValue
        }
        self.init(
            status: status, code: text("code"), message: text("message") ?? text("msg"), details: text("details"),
            hint: text("hint"))
    }

    /// The name of the constraint the write broke, as PostgreSQL's sentence gives it in quotes.
    public var constraint: String? {
        guard let code, code.hasPrefix("23"), let message else { return nil }
        let parts = message.split(separator: "\"", omittingEmptySubsequences: false)
        // Every second part stands in quotes: a column's name may be any text, "constraint " too.
        let outside = stride(from: 0, to: parts.count - 1, by: 2)
        return outside.first { parts[$0].hasSuffix("constraint ") }.map { String(parts[$0 + 1]) }
    }

    /// Whether the same request can succeed later without any change (docs/spec/writes.md, Responses and outcomes).
    public var isTransient: Bool {
        switch status {
        case 401, 408, 425, 429, 502, 503, 504, 520...524: true
        case 500:
            switch code {
            case let code? where code.hasPrefix("40") || code.hasPrefix("53") || code.hasPrefix("57"): true
            case let code? where code.hasPrefix("08") || code == "55P03": true
            default: false
            }
        default: false
        }
    }
}
