import KizunaLocal
import KizunaSync
import Synchronization

/// One PostgreSQL server for all tests of the process; each test has a database in it.
enum SharedCluster {
    private static let starting = Task { try await LocalCluster.start() }

    /// Each backend holds connections, of which one server has a hundred.
    private static let turns = Turns(8)

    /// A backend with a database of its own that these statements have set up.
    static func backend(_ settings: LocalSettings) async throws -> LocalBackend {
        try await LocalBackend.start(settings, in: try await starting.value)
    }

    /// Runs a test against a backend and stops it, whatever becomes of the test.
    static func withBackend<Outcome: Sendable>(
        _ sql: String..., settings: LocalSettings = LocalSettings(),
        _ body: (LocalBackend) async throws -> Outcome
    ) async throws -> Outcome {
        await turns.take()
        defer { turns.giveBack() }
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

/// Lets so many through at a time.
private final class Turns: Sendable {
    private struct State {
        var free: Int
        var waiting: [AsyncGate] = []
    }

    private let state: Mutex<State>

    init(_ count: Int) { state = Mutex(State(free: count)) }

    func take() async {
        let gate = state.withLock { state -> AsyncGate? in
            guard state.free == 0 else {
                state.free -= 1
                return nil
            }
            let gate = AsyncGate()
            state.waiting.append(gate)
            return gate
        }
        await gate?.wait()
    }

    func giveBack() {
        let next = state.withLock { state -> AsyncGate? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.open()
    }
}
