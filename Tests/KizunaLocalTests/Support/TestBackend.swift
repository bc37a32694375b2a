import KizunaCore
import KizunaLocal

/// Gives each test a backend with a database of its own, in one cluster for the whole run.
///
/// Nobody stops that cluster: it stops by itself when the test process ends, which is what `LocalCluster` promises.
actor TestBackend {
    private static let shared = TestBackend()
    private var cluster: LocalCluster?
    private var isStarting = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Runs the body with a fresh backend and stops it afterwards.
    static func with(
        _ settings: LocalSettings = LocalSettings(), _ body: (LocalBackend) async throws -> Void
    ) async throws {
        let backend = try await LocalBackend.start(settings, in: try await shared.theCluster())
        do {
            try await body(backend)
        } catch {
            await backend.stop()
            throw error
        }
        await backend.stop()
    }

    private func theCluster() async throws -> LocalCluster {
        while isStarting { await withCheckedContinuation { waiting.append($0) } }
        if let cluster { return cluster }
        isStarting = true
        defer {
            isStarting = false
            for continuation in waiting { continuation.resume() }
            waiting = []
        }
        let started = try await LocalCluster.start()
        cluster = started
        return started
    }
}

extension LocalBackend {
    var client: RawClient { RawClient(port: port) }

    /// Sends a request with a JSON body to a path under the backend.
    func send(
        _ method: String, _ target: String, _ body: String? = nil, token: String? = nil,
        headers: [(String, String)] = []
    ) async throws -> RawClient.Answer {
        var all = headers
        if body != nil { all.append(("Content-Type", "application/json")) }
        if let token { all.append(("Authorization", "Bearer \(token)")) }
        return try await client.send(method, target, headers: all, body: body)
    }
}

extension RawClient.Answer {
    /// The body as JSON; null where it is none.
    var json: JSONValue { (try? JSONValue(text: text)) ?? .null }
}
