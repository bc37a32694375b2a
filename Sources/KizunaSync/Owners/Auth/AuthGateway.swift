package import KizunaCore

/// Makes the requests to `/auth/v1` and reads their answers.
package struct AuthGateway: Sendable {
    private let base: String
    private let publishableKey: String
    private let transport: any WireTransport

    package init(base: String, publishableKey: String, transport: any WireTransport) {
        self.base = base
        self.publishableKey = publishableKey
        self.transport = transport
    }

    /// Signs a user up; nil where the user has to confirm first.
    package func signUp(email: String, password: String) async throws -> AuthGrant? {
        let response = try await post("/signup", [("email", email), ("password", password)])
        return response.member("access_token") == nil ? nil : try grant(response)
    }

    package func signIn(email: String, password: String) async throws -> AuthGrant {
        try grant(await post("/token?grant_type=password", [("email", email), ("password", password)]))
    }

    package func refresh(_ token: String) async throws -> AuthGrant {
        try grant(await post("/token?grant_type=refresh_token", [("refresh_token", token)]))
    }

    /// Ends the session on the server.
    package func signOut(accessToken: String) async throws {
        _ = try await post("/logout?scope=local", [], bearer: accessToken)
    }

    private func post(_ path: String, _ members: [(String, String)], bearer: String? = nil) async throws -> RawJSON {
        let body = RawJSON(members: members.map { .init(name: $0.0, value: RawJSON(string: $0.1)) })
        let request = WireRequest(
            method: "POST", url: base + "/auth/v1" + path,
            headers: [
                WireHeader("apikey", publishableKey), WireHeader("Authorization", "Bearer \(bearer ?? publishableKey)"),
                WireHeader("Content-Type", "application/json"), WireHeader("X-Supabase-Api-Version", "2024-01-01"),
            ], body: body.bytes)
        let response: WireResponse
        do {
            response = try await transport.send(request)
        } catch let failure as WireFailure {
            throw SyncError(
                .connectivity, "The auth server could not be reached (\(failure.reason)).", underlying: failure)
        }
        guard (200..<300).contains(response.status) else {
            throw SyncError(
                .server, "The auth server refused the request.",
                server: Self.failure(response),
                retryAfter: RetryAfter.duration(response.headers))
        }
        return response.body.isEmpty ? RawJSON(members: []) : try parsed(response.body)
    }

    /// Auth servers of different ages word an error differently: `code` and `message`; a number as `code`, `error_code` and
    /// `msg`; `error` and `error_description`.
    private static func failure(_ response: WireResponse) -> ServerFailure {
        let read = ServerFailure(status: response.status, body: response.body)
        let body = try? RawJSON(validating: response.body)
        func text(_ name: String) -> String? { body?.member(name)?.stringValue }
        return ServerFailure(
            status: response.status, code: read.code ?? text("error_code") ?? text("error"),
            message: read.message ?? text("error_description"), details: read.details, hint: read.hint)
    }

    private func parsed(_ body: [UInt8]) throws(SyncError) -> RawJSON {
        do {
            return try RawJSON(validating: body)
        } catch {
            throw malformed
        }
    }

    private var malformed: SyncError {
        SyncError(.malformedResponse, "The auth server's answer is not a session.")
    }

    private func grant(_ response: RawJSON) throws(SyncError) -> AuthGrant {
        guard let access = response.member("access_token")?.stringValue,
            let refresh = response.member("refresh_token")?.stringValue
        else { throw malformed }
        let token = try AccessToken(access)
        let told = response.member("expires_in")?.scalarText.flatMap { Double($0) }
        return AuthGrant(
            session: KizunaAuthSession(userID: token.userID, refreshToken: refresh), accessToken: access,
            lifetime: told.map(AccessToken.lifetime) ?? token.lifetime ?? Self.commonLifetime)
    }
}

extension AuthGateway {
    /// What Supabase's own servers give a token where neither the answer nor the token says.
    private static let commonLifetime = Duration.seconds(3600)
}

extension AuthGateway: CustomReflectable {
    /// Empty: whatever holds a gateway can be dumped without the key, or a password in the URL.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension SyncError {
    /// Whether the auth server, asked for a refresh, said that the session is over, and not merely that it cannot be refreshed now.
    package var endsSession: Bool {
        switch server?.code {
        case "session_not_found", "session_expired", "refresh_token_not_found", "refresh_token_already_used",
            "user_not_found", "user_banned",
            // What older servers call all of these, in answer to a refresh.
            "invalid_grant":
            true
        default: false
        }
    }
}
