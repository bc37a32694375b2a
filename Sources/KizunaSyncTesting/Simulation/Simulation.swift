public import Foundation
package import KizunaCore
internal import Synchronization

/// Runs concurrent code in virtual time on one thread. The same seed gives the same run, in every process.
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
/// The body runs on the calling thread, and so does everything that it starts through `start(_:)`, through structured
/// concurrency, or through a client of this simulation. A bare `Task { }` runs on the cooperative pool of the process;
/// awaiting it ends the run as stuck.
public final class Simulation: Sendable {
    /// The limits of a run that does not end.
    public struct Limits: Sendable, Hashable {
        /// The largest number of jobs and timers at one instant.
        public var stepsPerInstant: Int
        /// The virtual time by which the body must have returned.
        public var virtualTime: Duration

        /// Creates limits; the defaults are a million steps at one instant and one virtual year.
        public init(stepsPerInstant: Int = 1_000_000, virtualTime: Duration = .seconds(365 * 86_400)) {
            self.stepsPerInstant = stepsPerInstant
            self.virtualTime = virtualTime
        }
    }

    /// The wall clock at the start of a simulation: 2025-01-01 00:00:00 UTC.
    public static let startDate = Date(timeIntervalSince1970: 1_735_689_600)

    /// The seed of all randomness.
    public let seed: UInt64
    /// The executor of all jobs of this run.
    public let executor: SimulatedExecutor
    /// The virtual clock.
    public let clock: SimulatedClock
    /// The log lines of this run.
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

    /// Advances virtual time. The caller continues after all other jobs and timers up to that instant.
    public func advance(by duration: Duration) async {
        await clock.sleepLast(for: duration)
    }

    /// Runs all ready jobs without advancing time. The caller continues after them.
    public func settle() async {
        await clock.sleepLast(for: .zero)
    }

    /// The device's wall clock: the start date, plus the virtual time, plus the offset.
    public var wallClock: Date {
        Self.startDate.addingTimeInterval((elapsed + wallClockOffset.withLock { $0 }).seconds)
    }

    /// Sets the error of the device's wall clock. The virtual clock and all timers do not change.
    public func setWallClockOffset(_ offset: Duration) {
        wallClockOffset.withLock { $0 = offset }
    }

    // MARK: - Randomness and work

    /// Returns the next 64 random bits of this run.
    public func nextRandom() -> UInt64 {
        random.withLock { $0.next() }
    }

    /// Returns an independent generator, for a part of a test whose numbers must not depend on other jobs.
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

    /// The engine's environment in this simulation.
    package var environment: SyncEnvironment {
        SyncEnvironment(
            clock: clock, wallClock: { [self] in wallClock }, random: { [self] in nextRandom() }, log: log,
            host: HostProcess(number: 1, run: 1, isRunning: { $0 == 1 }, sinceBoot: { [self] in elapsed }),
            taskExecutor: executor, storeExecutor: executor)
    }
}
