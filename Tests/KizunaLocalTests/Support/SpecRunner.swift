import KizunaCore
import KizunaLocal

/// Sends the cases to a backend and says what is wrong with the answers.
struct SpecRunner {
    let backend: LocalBackend

    /// Loads the fixture and keeps a copy of its rows beside it.
    static func start(
        _ fixture: RawJSON, in cluster: LocalCluster, icuLocale: String? = nil, allowsAggregates: Bool = false
    ) async throws -> SpecRunner {
        let lines = try fixture.member("sql")?.arrayElements().compactMap(\.stringValue) ?? []
        let sequences = try fixture.member("sequences")?.objectMembers() ?? []
        let resets = sequences.map { "PERFORM setval('\($0.name)', \($0.value.text), false);" }
        let settings = LocalSettings(
            sql: [lines.joined(separator: "\n"), snapshot(resets.joined(separator: " "))],
            jwtSecret: fixture.member("jwtSecret")?.stringValue ?? "", schemas: ["public", "other"],
            allowsAggregates: allowsAggregates, allowsTransactionOverride: true, requiresFilterOnWrites: false,
            icuLocale: icuLocale)
        return SpecRunner(backend: try await LocalBackend.start(settings, in: cluster))
    }

    private static func snapshot(_ resets: String) -> String {
        """
        CREATE SCHEMA snapshot;
        DO $$ DECLARE t record; BEGIN
          FOR t IN SELECT schemaname, tablename FROM pg_tables WHERE schemaname IN ('public', 'other') LOOP
            EXECUTE format('CREATE TABLE snapshot.%I AS TABLE %I.%I', t.schemaname || '.' || t.tablename,
              t.schemaname, t.tablename);
          END LOOP;
        END $$;
        CREATE FUNCTION snapshot.restore() RETURNS void LANGUAGE plpgsql SET session_replication_role = replica AS $$
        DECLARE t record; BEGIN
          FOR t IN SELECT schemaname, tablename FROM pg_tables WHERE schemaname IN ('public', 'other') LOOP
            EXECUTE format('DELETE FROM %I.%I', t.schemaname, t.tablename);
            EXECUTE format('INSERT INTO %I.%I SELECT * FROM snapshot.%I', t.schemaname, t.tablename,
              t.schemaname || '.' || t.tablename);
          END LOOP;
          \(resets)
        END $$;
        """
    }

    /// Nil when the case passes, else what is wrong.
    func complaint(about spec: SpecCase) async throws -> String? {
        var complaint = try await complaint(about: spec.request)
        for followUp in spec.followUps where complaint == nil {
            complaint = try await self.complaint(about: followUp).map { "then: \($0)" }
        }
        if spec.mutates { _ = try await backend.query("SELECT snapshot.restore()") }
        return complaint
    }

    private func complaint(about request: RawJSON) async throws -> String? {
        var headers: [(String, String)] = []
        for pair in try request.member("headers")?.arrayElements() ?? [] {
            let halves = try pair.arrayElements().map { $0.stringValue ?? "" }
            headers.append((halves[0], halves[1]))
        }
        if let jwt = request.member("jwt") {
            headers.append(("Authorization", "\(jwt.member("scheme")?.stringValue ?? "Bearer") \(try token(jwt))"))
        }
        let body = request.member("body")?.stringValue
        if body != nil, !headers.contains(where: { $0.0.lowercased() == "content-type" }) {
            headers.append(("Content-Type", "application/json"))
        }
        let answer = try await RawClient(port: backend.port).send(
            request.member("method")?.stringValue ?? "", "/rest/v1" + (request.member("path")?.stringValue ?? ""),
            headers: headers, body: body)
        return try difference(answer, request.member("expect") ?? .null)
    }

    private func token(_ jwt: RawJSON) throws -> String {
        if let raw = jwt.member("raw")?.stringValue { return raw }
        var claims = jwt.member("claims") ?? .null
        if let offset = jwt.member("exp_offset").flatMap({ Int($0.text) }) {
            let expiry = RawJSON(unchecked: Array(String(LocalBackend.now + offset).utf8))
            claims = claims.merging([.init(name: "exp", value: expiry)])
        }
        return backend.token(claims: claims)
    }

    private func difference(_ answer: RawClient.Answer, _ expected: RawJSON) throws -> String? {
        guard String(answer.status) == expected.member("status")?.text else {
            return "status \(answer.status): \(answer.text)"
        }
        if let text = expected.member("body_text")?.stringValue, text != answer.text { return "body \(answer.text)" }
        if let body = expected.member("body") {
            let isAnyOrder = expected.member("body_any_order")?.text == "true"
            guard try isEqual(JSONValue(text: answer.text), JSONValue(body), isAnyOrder) else {
                return "body \(answer.text)"
            }
        }
        for member in try expected.member("body_partial")?.objectMembers() ?? [] {
            guard try JSONValue(text: answer.text)[member.name] == JSONValue(member.value) else {
                return "\(member.name) of \(answer.text)"
            }
        }
        for member in try expected.member("headers")?.objectMembers() ?? [] {
            guard answer.header(member.name) == member.value.stringValue else {
                return "header \(member.name): \(answer.header(member.name) ?? "none")"
            }
        }
        for name in try expected.member("headers_absent")?.arrayElements().compactMap(\.stringValue) ?? [] {
            guard answer.header(name) == nil else { return "header \(name) is there" }
        }
        return nil
    }

    private func isEqual(_ one: JSONValue, _ other: JSONValue, _ isAnyOrder: Bool) -> Bool {
        guard isAnyOrder else { return one == other }
        var rest = other.elements
        for element in one.elements {
            guard let at = rest.firstIndex(of: element) else { return false }
            rest.remove(at: at)
        }
        return rest.isEmpty
    }
}
