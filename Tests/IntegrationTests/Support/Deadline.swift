import KizunaCore
import Synchronization

/// A test waited longer for something than it may.
struct DeadlinePassed: Error, CustomStringConvertible {
    let what: String
    var description: String { "waited too long: \(what)" }
}

/// Runs `body`; throws where it takes longer than `limit`.
func within<Outcome: Sendable>(
    _ limit: Duration = .seconds(30), _ what: String, _ body: @escaping @Sendable () async throws -> Outcome
) async throws -> Outcome {
    let environment = SyncEnvironment.live()
    return try await withThrowingTaskGroup(of: Outcome.self) { group in
        group.addTask(operation: body)
        group.addTask {
            let (stream, continuation) = AsyncStream<Void>.makeStream()
            let timer = environment.clock.schedule(after: limit) { continuation.finish() }
            defer { timer.cancel() }
            for await _ in stream {}
            try Task.checkCancellation()
            throw DeadlinePassed(what: what)
        }
        defer { group.cancelAll() }
        guard let outcome = try await group.next() else { throw DeadlinePassed(what: what) }
        return outcome
    }
}
