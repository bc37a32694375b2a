internal import Synchronization

extension Simulation {
    /// Runs the body in virtual time on the calling thread.
    ///
    /// The call blocks until the body has returned, in synchronous and in asynchronous tests. Jobs that are ready when
    /// the body returns still run; timers that are set then do not fire.
    ///
    /// - Parameters:
    ///   - seed: The seed of all randomness.
    ///   - interleaving: The order of jobs that are ready at the same time.
    ///   - limits: The limits of a run that does not end.
    ///   - body: The test.
    /// - Returns: The value of the body.
    /// - Throws: The error of the body, or a `SimulationFault` if the body cannot return.
    public static func run<Success: Sendable>(
        seed: UInt64 = 1, interleaving: Interleaving = .inOrder, limits: Limits = Limits(),
        _ body: @escaping @Sendable (Simulation) async throws -> Success
    ) throws -> Success {
        let simulation = Simulation(seed: seed, interleaving: interleaving)
        defer {
            simulation.clock.end()
            simulation.executor.end()
        }
        let outcome = Outcome<Success>()
        let task = Task(executorPreference: simulation.executor) {
            do {
                outcome.set(.success(try await body(simulation)))
            } catch {
                outcome.set(.failure(error))
            }
        }
        do {
            return try simulation.drive(until: outcome, limits).get()
        } catch {
            task.cancel()
            throw error
        }
    }

    private func drive<Success>(
        until outcome: Outcome<Success>, _ limits: Limits
    ) throws(SimulationFault) -> Result<Success, any Error> {
        var steps = 0
        while true {
            if executor.runNext() {
                // One job ran.
            } else if let result = outcome.result {
                return result
            } else if !clock.fireNextDue() {
                guard clock.moveToNextInstant() else { throw .stuck(at: elapsed) }
                guard elapsed <= limits.virtualTime else { throw .timeLimitPassed(at: elapsed) }
                steps = 0
            }
            steps += 1
            guard steps <= limits.stepsPerInstant else { throw .livelock(at: elapsed, steps: limits.stepsPerInstant) }
        }
    }
}

/// The value or error of the body, when it has ended.
private final class Outcome<Success: Sendable>: Sendable {
    private let state = Mutex<Result<Success, any Error>?>(nil)

    var result: Result<Success, any Error>? { state.withLock { $0 } }

    func set(_ result: Result<Success, any Error>) {
        state.withLock { $0 = result }
    }
}
