internal import Foundation
internal import KizunaCore
internal import KizunaLocal
internal import Synchronization

/// A device in its own process, with its commands and observations.
final class DeviceProcess: Sendable {
    /// The newest line of each kind.
    struct Sight: Sendable {
        var isReady = false
        var tasks: [DemoTask]?
        var refresh = ""
        var pending: [String] = []
        var rejected: [String] = []
        var reasons: [String] = []
        var responses: [DeviceLine] = []
        var hasEnded = false
    }

    private struct State {
        var sight = Sight()
        var waiters: [Int: (isMet: @Sendable (Sight) -> Bool, gate: AsyncStream<Bool>.Continuation)] = [:]
        var lastWaiter = 0
        var partial = Data()
    }

    let name: String
    private let process: ChildProcess
    private let state = Mutex(State())
    private let clock = SyncEnvironment.live().clock

    init(name: String, environment: [String: String], isOffline: Bool) throws {
        self.name = name
        let program = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
        process = try ChildProcess(
            [program.path, "device"] + (isOffline ? ["--offline"] : []),
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 }, input: .pipe, output: .pipe)
        process.output?.readabilityHandler = { [weak self] handle in
            let data = handle.availableData
            if data.isEmpty { handle.readabilityHandler = nil }
            self?.take(data)
        }
    }

    func send(_ command: DeviceCommandLine) throws {
        let line = try JSONEncoder().encode(command) + Data("\n".utf8)
        try process.input?.write(contentsOf: line)
    }

    /// Sends a command and waits for its result.
    @discardableResult
    func perform(_ command: DeviceCommandLine) async throws -> String {
        let before = sight.responses.count
        try send(command)
        let seen = try await see("answers \(command)") { $0.responses.count > before }
        switch seen.responses.last {
        case .done(_, let detail): return detail
        case .failed(_, let reason): throw DemoFault("device \(name) failed at \(command): \(reason)")
        default: return ""
        }
    }

    /// Kills the process with SIGKILL.
    func kill() async {
        process.send(SIGKILL)
        _ = await process.end()
    }

    func quit() async {
        try? send(.quit)
        _ = await process.end()
    }

    var sight: Sight { state.withLock { $0.sight } }

    /// Waits until the observations meet a condition, at most ten seconds.
    @discardableResult
    func see(_ what: String, _ isMet: @escaping @Sendable (Sight) -> Bool) async throws -> Sight {
        let (stream, continuation) = AsyncStream<Bool>.makeStream()
        let id = state.withLock { state -> Int? in
            guard !isMet(state.sight) else { return nil }
            state.lastWaiter += 1
            state.waiters[state.lastWaiter] = (isMet, continuation)
            return state.lastWaiter
        }
        guard let id else { return sight }
        let timer = clock.schedule(after: .seconds(10)) { continuation.yield(false) }
        defer {
            timer.cancel()
            state.withLock { $0.waiters[id] = nil }
        }
        for await isSeen in stream {
            guard isSeen else { break }
            return sight
        }
        throw DemoFault("device \(name) was not seen to: \(what); it shows \(sight)")
    }

    private func take(_ data: Data) {
        let met = state.withLock { state -> [AsyncStream<Bool>.Continuation] in
            if data.isEmpty { state.sight.hasEnded = true }
            state.partial += data
            while let end = state.partial.firstIndex(of: UInt8(ascii: "\n")) {
                let line = state.partial[..<end]
                if let line = try? JSONDecoder().decode(DeviceLine.self, from: Data(line)) {
                    state.sight.apply(line)
                }
                state.partial = Data(state.partial[state.partial.index(after: end)...])
            }
            let sight = state.sight
            let met = state.waiters.filter { $0.value.isMet(sight) }
            for id in met.keys { state.waiters[id] = nil }
            return met.values.map(\.gate)
        }
        for waiter in met { waiter.yield(true) }
    }
}

extension DeviceProcess.Sight {
    mutating func apply(_ line: DeviceLine) {
        switch line {
        case .ready: isReady = true
        case .shows(let shown, let state):
            tasks = shown.map(DemoTask.sorted)
            refresh = state
        case .pending(let ids): pending = ids
        case .rejected(let ids, let why):
            rejected = ids
            reasons = why
        case .done, .failed: responses.append(line)
        }
    }
}

/// A step of the demo was not observed.
struct DemoFault: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
