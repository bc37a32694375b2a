import KizunaCore
import KizunaLocal
import Testing

@Suite struct AuthTests {
    private func signUp(_ backend: LocalBackend, _ email: String = "ada@example.com") async throws -> JSONValue {
        let answer = try await backend.send(
            "POST", "/auth/v1/signup", #"{"email":"\#(email)","password":"secret-1","data":{"nick":"a"}}"#)
        #expect(answer.status == 200)
        return answer.json
    }

    private func refresh(_ backend: LocalBackend, _ token: String) async throws -> RawClient.Answer {
        try await backend.send(
            "POST", "/auth/v1/token?grant_type=refresh_token", #"{"refresh_token":"\#(token)"}"#)
    }

    @Test func signUpGivesASessionWithAUser() async throws {
        try await TestBackend.with { (backend: LocalBackend) async throws in
            let session = try await signUp(backend, "Ada@Example.com")
            #expect(session["token_type"]?.text == "bearer")
            #expect(session["expires_in"] == .integer("3600"))
            #expect(session["refresh_token"]?.text?.utf8.count == 12)
            let user = try #require(session["user"])
            #expect(user["email"]?.text == "ada@example.com")
            #expect(user["aud"]?.text == "authenticated")
            #expect(try user["app_metadata"] == JSONValue(text: #"{"provider":"email","providers":["email"]}"#))
            #expect(try user["user_metadata"] == JSONValue(text: #"{"nick":"a"}"#))
            #expect(user["identities"]?.elements.count == 1)
            let again = try await backend.send("GET", "/auth/v1/user", token: session["access_token"]?.text)
            #expect(again.status == 200 && again.json["id"] == user["id"])
        }
    }

    @Test func anAccessTokenCarriesTheClaimsThatPoliciesUse() async throws {
        let secret = "a-secret-for-this-test-of-32-characters"
        try await TestBackend.with(.init(jwtSecret: secret)) { (backend: LocalBackend) async throws in
            let session = try await signUp(backend)
            let token = try #require(session["access_token"]?.text)
            let claims = try JSONValue(TokenSigner(secret: secret).claims(of: token))
            #expect(claims["sub"] == session["user"]?["id"])
            #expect(claims["role"]?.text == "authenticated")
            #expect(claims["iss"]?.text == backend.url + "/auth/v1")
            #expect(claims["session_id"]?.text?.count == 36)
            #expect(claims["is_anonymous"] == .boolean(false))
            #expect(claims["exp"] == session["expires_at"])
        }
    }

    @Test func signInWantsTheRightPassword() async throws {
        try await TestBackend.with { (backend: LocalBackend) async throws in
            _ = try await signUp(backend)
            let path = "/auth/v1/token?grant_type=password"
            let right = try await backend.send("POST", path, #"{"email":"ADA@example.com","password":"secret-1"}"#)
            #expect(right.status == 200)
            let wrong = try await backend.send("POST", path, #"{"email":"ada@example.com","password":"secret-2"}"#)
            #expect(wrong.status == 400)
            #expect(wrong.json["error_code"]?.text == "invalid_credentials")
            let grant = try await backend.send("POST", "/auth/v1/token?grant_type=odd", "{}")
            #expect(grant.status == 400)
        }
    }

    @Test func signUpRefusesWhatCannotBeAUser() async throws {
        try await TestBackend.with { (backend: LocalBackend) async throws in
            _ = try await signUp(backend)
            for (body, status, code) in [
                (#"{"email":"ada@example.com","password":"secret-1"}"#, 422, "user_already_exists"),
                (#"{"email":"bo@example.com","password":"short"}"#, 422, "weak_password"),
                (#"{"email":"nonsense","password":"secret-1"}"#, 400, "validation_failed"),
                (#"{"email":"bo@example.com"}"#, 400, "validation_failed"),
                ("{", 400, "bad_json"),
            ] {
                let answer = try await backend.send("POST", "/auth/v1/signup", body)
                #expect(answer.status == status && answer.json["error_code"]?.text == code, "\(answer.text)")
                #expect(answer.header("x-sb-error-code") == code)
            }
        }
    }

    @Test func withoutAnAddressTheUserIsAnonymous() async throws {
        try await TestBackend.with { (backend: LocalBackend) async throws in
            let answer = try await backend.send("POST", "/auth/v1/signup", "{}")
            #expect(answer.status == 200)
            #expect(answer.json["user"]?["is_anonymous"] == .boolean(true))
            #expect(answer.json["user"]?["email"]?.text == "")
        }
    }

    @Test func errorsHaveTheFormTheClientAsksFor() async throws {
        try await TestBackend.with { (backend: LocalBackend) async throws in
            let old = try await backend.send("GET", "/auth/v1/user")
            #expect(old.status == 401)
            #expect(old.json["code"] == .integer("401"))
            #expect(old.json["error_code"]?.text == "no_authorization")
            let new = try await backend.send(
                "GET", "/auth/v1/user", headers: [("X-Supabase-Api-Version", "2024-01-01")])
            #expect(new.json["code"]?.text == "no_authorization")
            #expect(new.json["message"]?.text != nil)
            #expect(new.header("X-Supabase-Api-Version") == "2024-01-01")
        }
    }

    @Test func aRefreshTokenIsReplacedByItsChild() async throws {
        try await TestBackend.with { (backend: LocalBackend) async throws in
            let first = try #require(try await signUp(backend)["refresh_token"]?.text)
            let second = try await refresh(backend, first)
            #expect(second.status == 200)
            let next = try #require(second.json["refresh_token"]?.text)
            #expect(next != first)
            #expect(try await refresh(backend, next).status == 200)
        }
    }

    @Test func aLostAnswerToARefreshCanBeAskedForAgain() async throws {
        // No interval: only the rule about the parent of the active token can help.
        try await TestBackend.with(.init(refreshReuseInterval: .zero)) { (backend: LocalBackend) async throws in
            let first = try #require(try await signUp(backend)["refresh_token"]?.text)
            backend.control.add(FaultRule(.dropAnswer, path: "/auth/v1/token"))
            await #expect(throws: RawClient.Fault.self) { try await refresh(backend, first) }
            let again = try await refresh(backend, first)
            #expect(again.status == 200)
            let active = try await backend.query("SELECT token FROM auth.refresh_tokens WHERE NOT revoked")
            #expect(active.map { $0["token"] } == [again.json["refresh_token"]?.text])
        }
    }

    @Test func anOldRefreshTokenEndsTheSession() async throws {
        try await TestBackend.with(.init(refreshReuseInterval: .zero)) { (backend: LocalBackend) async throws in
            let first = try #require(try await signUp(backend)["refresh_token"]?.text)
            let second = try #require(try await refresh(backend, first).json["refresh_token"]?.text)
            let third = try #require(try await refresh(backend, second).json["refresh_token"]?.text)
            let stolen = try await refresh(backend, first)
            #expect(stolen.status == 400)
            #expect(stolen.json["error_code"]?.text == "refresh_token_already_used")
            #expect(try await refresh(backend, third).json["error_code"]?.text == "refresh_token_already_used")
        }
    }

    @Test func withinTheIntervalAnOldRefreshTokenIsForgiven() async throws {
        try await TestBackend.with { (backend: LocalBackend) async throws in
            let first = try #require(try await signUp(backend)["refresh_token"]?.text)
            let second = try #require(try await refresh(backend, first).json["refresh_token"]?.text)
            let third = try #require(try await refresh(backend, second).json["refresh_token"]?.text)
            let late = try await refresh(backend, first)
            #expect(late.status == 200)
            #expect(try await refresh(backend, third).status == 200)
        }
    }

    @Test func unknownRefreshTokensAreRefused() async throws {
        try await TestBackend.with { (backend: LocalBackend) async throws in
            let unknown = try await refresh(backend, "abcdefghijkl")
            #expect(unknown.json["error_code"]?.text == "refresh_token_not_found")
            let malformed = try await refresh(backend, "short")
            #expect(malformed.json["error_code"]?.text == "validation_failed")
        }
    }

    @Test func signingOutEndsSessionsAsFarAsItsScope() async throws {
        try await TestBackend.with { (backend: LocalBackend) async throws in
            let one = try await signUp(backend)
            let path = "/auth/v1/token?grant_type=password"
            let login = #"{"email":"ada@example.com","password":"secret-1"}"#
            let two = try await backend.send("POST", path, login).json
            #expect(
                try await backend.send("POST", "/auth/v1/logout?scope=odd", token: two["access_token"]?.text).status
                    == 400)
            let local = try await backend.send("POST", "/auth/v1/logout?scope=local", token: two["access_token"]?.text)
            #expect(local.status == 204)
            let gone = try await backend.send("GET", "/auth/v1/user", token: two["access_token"]?.text)
            #expect(gone.status == 403 && gone.json["error_code"]?.text == "session_not_found")
            #expect(try await backend.send("GET", "/auth/v1/user", token: one["access_token"]?.text).status == 200)
            let three = try await backend.send("POST", path, login).json
            _ = try await backend.send("POST", "/auth/v1/logout", token: three["access_token"]?.text)
            let refreshed = try await refresh(backend, one["refresh_token"]?.text ?? "")
            #expect(refreshed.json["error_code"]?.text == "refresh_token_not_found")
        }
    }

    @Test func usersChangeTheirOwnData() async throws {
        try await TestBackend.with { (backend: LocalBackend) async throws in
            let token = try await signUp(backend)["access_token"]?.text
            let data = try await backend.send("PUT", "/auth/v1/user", #"{"data":{"nick":null,"age":4}}"#, token: token)
            #expect(try data.json["user_metadata"] == JSONValue(text: #"{"age":4}"#))
            let same = try await backend.send("PUT", "/auth/v1/user", #"{"password":"secret-1"}"#, token: token)
            #expect(same.json["error_code"]?.text == "same_password")
            _ = try await backend.send("PUT", "/auth/v1/user", #"{"password":"secret-9"}"#, token: token)
            let login = try await backend.send(
                "POST", "/auth/v1/token?grant_type=password", #"{"email":"ada@example.com","password":"secret-9"}"#)
            #expect(login.status == 200)
            _ = try await signUp(backend, "bo@example.com")
            let taken = try await backend.send("PUT", "/auth/v1/user", #"{"email":"Bo@example.com"}"#, token: token)
            #expect(taken.json["error_code"]?.text == "email_exists")
            let moved = try await backend.send("PUT", "/auth/v1/user", #"{"email":"cy@example.com"}"#, token: token)
            #expect(moved.json["email"]?.text == "cy@example.com")
        }
    }

    @Test func badTokensAreToldApart() async throws {
        try await TestBackend.with { (backend: LocalBackend) async throws in
            for (token, status, code) in [
                ("nonsense", 403, "bad_jwt"), (backend.anonKey, 403, "bad_jwt"),
                (backend.token(subject: "11111111-1111-1111-1111-111111111111"), 403, "user_not_found"),
                (backend.token(subject: "x", expiresIn: .seconds(-1)), 403, "bad_jwt"),
            ] {
                let answer = try await backend.send("GET", "/auth/v1/user", token: token)
                #expect(answer.status == status && answer.json["error_code"]?.text == code, "\(answer.text)")
            }
        }
    }

    @Test func healthAndSettingsNeedNobody() async throws {
        try await TestBackend.with { (backend: LocalBackend) async throws in
            #expect(try await backend.send("GET", "/auth/v1/health").json["name"]?.text == "GoTrue")
            let settings = try await backend.send("GET", "/auth/v1/settings")
            #expect(settings.json["mailer_autoconfirm"] == .boolean(true))
            #expect(try await backend.send("GET", "/auth/v1/odd").status == 404)
        }
    }
}
