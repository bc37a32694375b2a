internal import KizunaCore

/// An error answer of the Auth interface.
struct AuthFailure: Error, Sendable, Equatable {
    let status: Int
    let code: String
    let message: String
    /// Why a password is too weak; only with that code.
    var reasons: [String] = []

    init(_ status: Int, _ code: String, _ message: String, reasons: [String] = []) {
        self.status = status
        self.code = code
        self.message = message
        self.reasons = reasons
    }

    /// The body has two forms: clients that name an API version get the newer one, and the version back as a sign.
    func answer(apiVersion: String?) -> HTTPAnswer {
        var members: [RawJSON.Member]
        if apiVersion != nil {
            members = [.init(name: "code", value: .string(code)), .init(name: "message", value: .string(message))]
        } else {
            members = [
                .init(name: "code", value: .number(status)), .init(name: "error_code", value: .string(code)),
                .init(name: "msg", value: .string(message)),
            ]
        }
        if !reasons.isEmpty {
            let list = RawJSON(elements: reasons.map(RawJSON.string))
            members.append(.init(name: "weak_password", value: .object(("reasons", list))))
        }
        return .json(
            status, RawJSON(members: members),
            headers: [HTTPHeader("x-sb-error-code", code)] + Self.versionHeader(apiVersion))
    }

    static func versionHeader(_ apiVersion: String?) -> [HTTPHeader] {
        apiVersion.map { [HTTPHeader("X-Supabase-Api-Version", $0)] } ?? []
    }

    /// The version a client asks for, where it is one that has the newer error body.
    static func apiVersion(_ request: HTTPRequest) -> String? {
        guard let asked = request.header("X-Supabase-Api-Version"), asked >= "2024-01-01" else { return nil }
        return "2024-01-01"
    }
}

extension AuthFailure {
    static let invalidCredentials = AuthFailure(400, "invalid_credentials", "Invalid login credentials")
    static let tokenNotFound = AuthFailure(
        400, "refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found")
    static let tokenAlreadyUsed = AuthFailure(
        400, "refresh_token_already_used", "Invalid Refresh Token: Already Used")
    static let userBanned = AuthFailure(400, "user_banned", "User is banned")
    static let noAuthorization = AuthFailure(
        401, "no_authorization", "This endpoint requires a valid Bearer token")
    static let emailExists = AuthFailure(
        422, "email_exists", "A user with this email address has already been registered")

    static func badToken(_ why: String) -> AuthFailure { AuthFailure(403, "bad_jwt", "invalid JWT: \(why)") }
    static func invalid(_ why: String) -> AuthFailure { AuthFailure(400, "validation_failed", why) }
}
