internal import KizunaCore
internal import Synchronization

/// `/auth/v1`: sign-up, sign-in, sessions and users as Supabase's Auth server serves them.
final class AuthPart: LocalRouter.Part {
    private let settings: LocalSettings
    private let signer: TokenSigner
    private let pool: ConnectionPool
    private let issuer = Mutex("")

    init(settings: LocalSettings, signer: TokenSigner, pool: ConnectionPool) {
        self.settings = settings
        self.signer = signer
        self.pool = pool
    }

    /// The address that tokens name as their maker; known when the server listens.
    func setIssuer(_ address: String) { issuer.withLock { $0 = address } }

    func answer(_ request: HTTPRequest, _ done: @escaping @Sendable (HTTPAnswer) -> Void) {
        let version = AuthFailure.apiVersion(request)
        let path = String(request.path.dropFirst("/auth/v1".count))
        if request.method == "GET", let fixed = Self.fixedAnswer(path) { return done(fixed) }
        let issuer = SessionIssuer(
            signer: signer, issuer: issuer.withLock { $0 }, lifetime: settings.tokenLifetime,
            reuseInterval: settings.refreshReuseInterval)
        pool.submit { [signer] connection in
            do {
                let call = AuthCall(
                    request: request, path: path, signer: signer, issuer: issuer, connection: try connection.get())
                var answer = try call.answer()
                answer.headers += AuthFailure.versionHeader(version)
                done(answer)
            } catch let failure as AuthFailure {
                done(failure.answer(apiVersion: version))
            } catch let failure as RestFailure {
                done(AuthFailure.invalid(failure.message).answer(apiVersion: version))
            } catch let failure as PostgresFailure where failure.sqlState.hasPrefix("22") {
                // Class 22: a value of the request that PostgreSQL cannot store.
                done(AuthFailure.invalid(failure.message).answer(apiVersion: version))
            } catch {
                let failure = AuthFailure(500, "unexpected_failure", "\((error as? PostgresFailure)?.message ?? "")")
                done(failure.answer(apiVersion: version))
            }
        }
    }

    private static func fixedAnswer(_ path: String) -> HTTPAnswer? {
        switch path {
        case "/health":
            .json(
                200,
                .object(
                    ("version", .string("v2.0.0-kizuna")), ("name", .string("GoTrue")),
                    ("description", .string("GoTrue is a user registration and authentication API"))))
        case "/settings":
            .json(
                200,
                .object(
                    (
                        "external",
                        .object(
                            ("email", .boolean(true)), ("phone", .boolean(false)), ("anonymous_users", .boolean(true)))
                    ), ("disable_signup", .boolean(false)), ("mailer_autoconfirm", .boolean(true)),
                    ("phone_autoconfirm", .boolean(false)), ("sms_provider", .string("")),
                    ("saml_enabled", .boolean(false))))
        case "/.well-known/jwks.json": .json(200, .object(("keys", RawJSON(elements: []))))
        default: nil
        }
    }
}
