public import Foundation
package import KizunaCore
internal import Synchronization

/// A run of concurrent code in virtual time on one thread: the same seed gives the same run.
///
/// ```swift
/// @Test func pollsEveryFifteenSeconds() throws {
///     try Simulation.run { simulation in
///         let poll = simulation.start { try await pollOnce() }
///         await simulation.advance(by: .seconds(15))      // takes no real time
///         let count = try await poll.value
///         #expect(count == 1)
///     }
/// }
/// ```
///
/// The body and everything it starts through `start(_:)`, through structured concurrency, or through a client made
/// for this simulation runs on the calling thread. A bare `Task { }` does not: it runs on the process's pool, and
/// awaiting it ends the run as stuck.
public final class Simulation: Sendable {
    /// What bounds a run that would not end by itself.
    public struct Limits: Sendable, Hashable {
        /// The most jobs and timers that may run at one instant.
        public var stepsPerInstant: Int
        /// The virtual time by which the body must have returned.
        public var virtualTime: Duration

        /// Makes limits; the defaults are a million steps an instant and one virtual year.
        public init(stepsPerInstant: Int = 1_000_000, virtualTime: Duration = .seconds(365 * 86_400)) {
            self.stepsPerInstant = stepsPerInstant
            self.virtualTime = virtualTime
        }
    }

    /// The wall clock's reading when a simulation begins: 2025-01-01 00:00:00 UTC.
    public static let startDate = Date(timeIntervalSince1970: 1_735_689_600)

    /// The seed everything random follows from.
    public let seed: UInt64
    /// Where all work of this run runs.
    public let executor: SimulatedExecutor
    /// The virtual clock.
    public let clock: SimulatedClock
    /// The log lines of everything that runs here.
    public let log: CollectingLogSink

    private let random: Mutex<SeededRandom>
    private let wallClockOffset = Mutex(Duration.zero)

    init(seed: UInt64, interleaving: Interleaving) {
        var source = SeededRandom(seed: seed)
        let order = source.fork()
        self.seed = seed
        executor = SimulatedExecutor(interleaving: interleaving, random: order)
        clock = SimulatedClock()
        log = CollectingLogSink()
        random = Mutex(source)
    }

    // MARK: - Time

    /// The virtual time since the run began.
    public var elapsed: Duration { clock.elapsed }

    /// Lets this much virtual time pass; the caller goes on after everything else that happens until then.
    public func advance(by duration: Duration) async {
        await clock.sleepLast(for: duration)
    }

    /// Lets everything run that can without time passing; the caller goes on last.
    public func settle() async {
        await clock.sleepLast(for: .zero)
    }

    /// What the device's wall clock reads: the start date, plus the virtual time, plus the offset.
    public var wallClock: Date {
        Self.startDate.addingTimeInterval((elapsed + wallClockOffset.withLock { $0 }).seconds)
    }

    /// Sets the device's wall clock wrong by this much. The virtual clock, and so every timer, is not touched.
    public func setWallClockOffset(_ offset: Duration) {
        wallClockOffset.withLock { $0 = offset }
    }

    // MARK: - Randomness and work

    /// The next 64 random bits of this run.
    public func nextRandom() -> UInt64 {
        random.withLock { $0.next() }
    }

    /// A generator of its own, for a part of a test whose numbers must not depend on what else runs.
    public func forkRandom() -> SeededRandom {
        random.withLock { $0.fork() }
    }

    /// Starts a task inside the simulation.
    @discardableResult
    public func start<Success: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Success
    ) -> Task<Success, any Error> {
        Task(executorPreference: executor) { try await operation() }
    }

    /// What the engine takes from the outside world, all of it from this simulation.
    package var environment: SyncEnvironment {
        SyncEnvironment(
            clock: clock, wallClock: { [self] in wallClock }, random: { [self] in nextRandom() }, log: log,
            host: HostProcess(number: 1, run: 1, isRunning: { $0 == 1 }, sinceBoot: { [self] in elapsed }),
            taskExecutor: executor, storeExecutor: executor)
    }
}
