package import KizunaCore
internal import Synchronization

/// A machine in virtual time on which several processes share store files.
///
/// Its processes are clients of one simulation. Each has a process number and can be stopped, resumed and killed. A
/// change signal reaches the other processes after one millisecond.
package final class SimulatedHost: Sendable {
    private struct State {
        var running: Set<Int32> = []
        var last: Int32 = 0
        var listeners: [String: [Int: (process: Int32, heard: @Sendable () -> Void)]] = [:]
        var lastListener = 0
        var isSilent = false
    }

    let simulation: Simulation
    private let state = Mutex(State())

    package init(_ simulation: Simulation) { self.simulation = simulation }

    /// Starts a process.
    package func process() -> SimulatedProcess {
        let number = state.withLock { state in
            state.last += 1
            state.running.insert(state.last)
            return state.last
        }
        return SimulatedProcess(number: number, machine: self)
    }

    /// While true, no process receives change signals.
    package var isSilent: Bool {
        get { state.withLock { $0.isSilent } }
        set { state.withLock { $0.isSilent = newValue } }
    }

    func isRunning(_ process: Int32) -> Bool { state.withLock { $0.running.contains(process) } }

    /// Ends a process and notifies the others.
    func ended(_ process: Int32) {
        let others = state.withLock { state in
            state.running.remove(process)
            // In the order of listening: the order of a dictionary differs from run to run.
            return state.listeners.values.flatMap(\.self).filter { $0.value.process != process }
                .sorted { $0.key < $1.key }.map(\.value.heard)
        }
        for heard in others { pass(heard) }
    }

    func listen(at path: String, _ process: Int32, _ heard: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.lastListener += 1
            state.listeners[path, default: [:]][state.lastListener] = (process, heard)
            return state.lastListener
        }
    }

    func leave(_ path: String, _ listener: Int) { state.withLock { $0.listeners[path]?[listener] = nil } }

    func tell(at path: String, from listener: Int) {
        let others = state.withLock { state in
            state.isSilent
                ? []
                : (state.listeners[path] ?? [:]).filter { $0.key != listener }.sorted { $0.key < $1.key }.map(\.value)
        }
        for other in others { pass(other.heard) }
    }

    private func pass(_ heard: @escaping @Sendable () -> Void) {
        _ = simulation.clock.schedule(after: .milliseconds(1), heard)
    }
}

/// A process of a simulated machine. Its callbacks wait while it is stopped, and never run after it is killed.
package final class SimulatedProcess: Sendable {
    private struct State {
        var isStopped = false
        var isKilled = false
        var waiting: [@Sendable () -> Void] = []
    }

    package let number: Int32
    let machine: SimulatedHost
    private let state = Mutex(State())

    init(number: Int32, machine: SimulatedHost) {
        self.number = number
        self.machine = machine
    }

    /// Stops the process. Jobs that are ready at this instant still run.
    package func stop() { state.withLock { $0.isStopped = true } }

    /// Resumes the process and runs the callbacks that waited.
    package func resume() {
        let waiting = state.withLock { state in
            state.isStopped = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for each in waiting { each() }
    }

    /// Kills the process, as SIGKILL does.
    package func kill() {
        state.withLock { state in
            state.isStopped = true
            state.isKilled = true
            state.waiting = []
        }
        machine.ended(number)
    }

    /// Runs the work now, or when the process is resumed.
    func run(_ work: @escaping @Sendable () -> Void) {
        let isFree = state.withLock { state in
            if state.isStopped, !state.isKilled { state.waiting.append(work) }
            return !state.isStopped
        }
        if isFree { work() }
    }

    package var host: HostProcess {
        HostProcess(
            number: number, run: UInt64(number), isRunning: { [machine] in machine.isRunning($0) },
            sinceBoot: { [machine] in machine.simulation.elapsed })
    }

    package func signal(of path: String) -> any ChangeSignal { SimulatedSignal(process: self, path: path) }

    package var clock: any SyncClock { ProcessClock(process: self) }

    /// Returns the network of this process: responses wait while it is stopped.
    package func network(_ inner: any WireTransport) -> any WireTransport {
        ProcessNetwork(process: self, inner: inner)
    }
}

/// A change signal in virtual time.
private final class SimulatedSignal: ChangeSignal {
    private let process: SimulatedProcess
    private let path: String
    private let listener = Mutex<Int?>(nil)

    init(process: SimulatedProcess, path: String) {
        self.process = process
        self.path = path
    }

    func start(heard: @escaping @Sendable () -> Void) {
        let id = process.machine.listen(at: path, process.number) { [process] in process.run(heard) }
        listener.withLock { $0 = id }
    }

    func tell() {
        if let id = listener.withLock({ $0 }) { process.machine.tell(at: path, from: id) }
    }

    func stop() {
        let id = listener.withLock { listener in
            defer { listener = nil }
            return listener
        }
        if let id { process.machine.leave(path, id) }
    }
}

/// The simulation's clock; timers of a stopped process fire when it is resumed.
private struct ProcessClock: SyncClock {
    let process: SimulatedProcess

    var now: MonotonicInstant { process.machine.simulation.clock.now }

    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> TimerTicket {
        let isCancelled = CancellationFlag()
        let ticket = process.machine.simulation.clock.schedule(after: delay) { [process] in
            process.run { if !isCancelled.value { body() } }
        }
        return TimerTicket {
            isCancelled.set()
            ticket.cancel()
        }
    }
}

/// Whether a timer was cancelled.
private final class CancellationFlag: Sendable {
    private let flag = Atomic(false)
    var value: Bool { flag.load(ordering: .sequentiallyConsistent) }
    func set() { flag.store(true, ordering: .sequentiallyConsistent) }
}

private struct ProcessNetwork: WireTransport {
    let process: SimulatedProcess
    let inner: any WireTransport

    func send(_ request: WireRequest) async throws -> WireResponse {
        let outcome: Result<WireResponse, any Error>
        do {
            outcome = .success(try await inner.send(request))
        } catch {
            outcome = .failure(error)
        }
        await withUnsafeContinuation { continuation in process.run { continuation.resume() } }
        return try outcome.get()
    }
}
