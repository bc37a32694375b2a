internal import Dispatch
internal import Synchronization

/// The order of jobs that are ready at the same time.
public enum Interleaving: Sendable, Hashable {
    /// In the order in which they became ready.
    case inOrder
    /// In an order drawn from the simulation's seed, so that different seeds try different interleavings.
    case shuffled
}

/// Runs every job of a simulation on the one thread that drives it, one at a time.
///
/// It is a task executor for `Task(executorPreference:)` and an executor for actors. Only one job runs at a time, so
/// the isolation of actors holds although all of them share one executor.
///
/// Jobs that arrive after the end of the simulation run on a background queue, one at a time, so that code awaiting
/// them can end.
public final class SimulatedExecutor: TaskExecutor, SerialExecutor {
    private struct State {
        var ready: [UnownedJob] = []
        var head = 0
        var random: SeededRandom?
        var hasEnded = false
    }

    private let state: Mutex<State>
    private let lateJobs = DispatchQueue(label: "kizuna.simulation.late")

    init(interleaving: Interleaving, random: SeededRandom) {
        state = Mutex(State(random: interleaving == .shuffled ? random : nil))
    }

    /// Appends a job to the ready ones.
    public func enqueue(_ job: consuming ExecutorJob) {
        let unowned = UnownedJob(job)
        let isLate = state.withLock { state in
            if !state.hasEnded { state.ready.append(unowned) }
            return state.hasEnded
        }
        if isLate { lateJobs.async { [self] in run(unowned) } }
    }

    /// This executor as a reference for actors.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    /// This executor as a reference for tasks.
    public func asUnownedTaskExecutor() -> UnownedTaskExecutor {
        UnownedTaskExecutor(ordinary: self)
    }

    // MARK: - For the driver

    /// Runs one ready job; returns false if there is none.
    func runNext() -> Bool {
        guard let job = state.withLock({ Self.popNext(&$0) }) else { return false }
        run(job)
        return true
    }

    /// Discards the jobs that have not run.
    func end() {
        state.withLock { state in
            state.hasEnded = true
            state.ready = []
            state.head = 0
        }
    }

    private func run(_ job: UnownedJob) {
        job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }

    private static func popNext(_ state: inout State) -> UnownedJob? {
        let waiting = state.ready.count - state.head
        guard waiting > 0 else { return nil }
        if waiting > 1, state.random != nil {
            let pick = state.random?.next() ?? 0
            state.ready.swapAt(state.head, state.head + Int(pick % UInt64(waiting)))
        }
        let job = state.ready[state.head]
        state.head += 1
        if state.head == state.ready.count {
            state.ready.removeAll(keepingCapacity: true)
            state.head = 0
        } else if state.head > 1024, state.head * 2 > state.ready.count {
            state.ready.removeFirst(state.head)
            state.head = 0
        }
        return job
    }
}
