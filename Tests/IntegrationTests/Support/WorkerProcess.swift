import TestSupport
import Foundation
import KizunaCore
import KizunaSync

/// A crash worker in a process of its own.
final class WorkerProcess: Sendable {
    /// How it ended and what it had said by then.
    struct End: Sendable, CustomStringConvertible {
        let isKilled: Bool
        let status: Int32
        let lines: [String]

        /// For each step that was durable before the end: the keys of its rows.
        var accepted: [String] { moments(of: "accepted").map(\.keys) }
        /// What the worker said of keys, with the machine's clock in milliseconds.
        func moments(of word: String) -> [(keys: String, at: Double)] {
            lines.compactMap { line in
                let words = line.split(separator: " ")
                guard words.count == 3, words[0] == word, let at = Double(words[2]) else { return nil }
                return (String(words[1]), at)
            }
        }
        /// Nil where the queue did not run empty.
        var refused: Int? {
            lines.first { $0.hasPrefix("drained ") }.flatMap { Int($0.dropFirst(8)) }
        }
        var description: String { "\(isKilled ? "killed" : "exit") \(status): \(lines)" }
    }

    let id: pid_t
    private let output: ScratchFolder
    private let ending = LatestMailbox<End>()

    /// Starts a worker with these environment variables.
    ///
    /// `posix_spawn` and a thread that waits for it: the process classes of Foundation miss an end now and then when
    /// several children start at once.
    init(_ variables: [String: String]) throws {
        output = try ScratchFolder()
        let file = output.path + "/output"
        id = try Self.spawn(Self.program.path, variables, output: file)
        Thread { [id, ending] in
            var status: Int32 = 0
            while waitpid(id, &status, 0) < 0, errno == EINTR {}
            let signal = status & 0x7F
            let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
            ending.put(
                End(
                    isKilled: signal == SIGKILL, status: signal == 0 ? (status >> 8) & 0xFF : signal,
                    lines: text.split(separator: "\n").map(String.init)))
        }.start()
    }

    private static func spawn(
        _ program: String, _ variables: [String: String], output: String
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // What else is open here is no business of the worker's: a copy of another child's input would keep that waiting.
        closeAllFrom(3, &actions)
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(program), nil]
        var environment = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var id: pid_t = 0
        let code = posix_spawn(&id, program, &actions, nil, &arguments, &environment)
        guard code == 0 else { throw POSIXError(POSIXError.Code(rawValue: code) ?? .EINVAL) }
        return id
    }

    /// Looked up by name, since the C library's module does not declare it.
    private static func closeAllFrom(_ first: Int32, _ actions: inout posix_spawn_file_actions_t) {
        typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
        guard let function = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else { return }
        _ = unsafeBitCast(function, to: CloseFrom.self)(&actions, first)
    }

    /// The worker's program lies where the tests' program lies.
    private static var program: URL {
        let own = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
        var folder = own.resolvingSymlinksInPath().deletingLastPathComponent()
        for _ in 0..<4 {
            let program = folder.appendingPathComponent("CrashWorker")
            if FileManager.default.isExecutableFile(atPath: program.path) { return program }
            folder.deleteLastPathComponent()
        }
        return own.deletingLastPathComponent().appendingPathComponent("CrashWorker")
    }

    func kill() { Foundation.kill(id, SIGKILL) }
    func stop() { Foundation.kill(id, SIGSTOP) }
    func resume() { Foundation.kill(id, SIGCONT) }

    /// What it has said so far.
    var said: [String] {
        let text = (try? String(contentsOfFile: output.path + "/output", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    /// Waits until it has said so many lines that begin so.
    func untilSaid(_ prefix: String, times: Int = 1) async throws {
        try await within(.seconds(30), "a worker's \(prefix)") { [self] in
            while said.count(where: { $0.hasPrefix(prefix) }) < times {
                try await SyncEnvironment.live().sleep(.milliseconds(5))
            }
        }
    }

    /// Waits for its end; after the limit it is killed.
    func end(within limit: Duration = .seconds(30)) async throws -> End {
        let timer = SyncEnvironment.live().clock.schedule(after: limit) { [self] in kill() }
        defer { timer.cancel() }
        guard let end = try await ending.next() else { throw DeadlinePassed(what: "a worker's end") }
        return end
    }
}
