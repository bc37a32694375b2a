import KizunaLocal

/// One PostgreSQL server for all tests of the process; each test has a database in it.
enum SharedCluster {
    private static let starting = Task { try await LocalCluster.start() }

    /// A backend with a database of its own that these statements have set up.
    static func backend(_ settings: LocalSettings) async throws -> LocalBackend {
        try await LocalBackend.start(settings, in: try await starting.value)
    }

    /// Runs a test against a backend and stops it, whatever becomes of the test.
    static func withBackend<Outcome: Sendable>(
        _ sql: String..., settings: LocalSettings = LocalSettings(),
        _ body: (LocalBackend) async throws -> Outcome
    ) async throws -> Outcome {
        var settings = settings
        settings.sql += sql
        let backend = try await backend(settings)
        do {
            let outcome = try await body(backend)
            await backend.stop()
            return outcome
        } catch {
            await backend.stop()
            throw error
        }
    }
}
