internal import Synchronization

extension Simulation {
    /// Runs the body in virtual time on the calling thread and gives back what it returns.
    ///
    /// The call blocks until the body has returned; it is made for tests and works inside synchronous and
    /// asynchronous ones. Work that is ready when the body returns still runs; timers that are set then never fire.
    ///
    /// - Parameters:
    ///   - seed: Everything random follows from it.
    ///   - interleaving: In which order jobs run that are ready at the same time.
    ///   - limits: What bounds a run that would not end by itself.
    ///   - body: The test.
    /// - Returns: What the body returned.
    /// - Throws: What the body threw, or a `SimulationFault` where it could not return.
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

/// What the body returned or threw, once it has.
private final class Outcome<Success: Sendable>: Sendable {
    private let state = Mutex<Result<Success, any Error>?>(nil)

    var result: Result<Success, any Error>? { state.withLock { $0 } }

    func set(_ result: Result<Success, any Error>) {
        state.withLock { $0 = result }
    }
}
