import TestSupport
import Foundation
import KizunaCore
import KizunaLocal
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
        var rejected: Int? {
            lines.first { $0.hasPrefix("drained ") }.flatMap { Int($0.dropFirst(8)) }
        }
        var description: String { "\(isKilled ? "killed" : "exit") \(status): \(lines)" }
    }

    private let process: ChildProcess
    /// Nil where it had ended before anybody asked.
    var id: Int32? { process.id }
    private let output: ScratchFolder

    /// Starts a worker with these environment variables.
    init(_ variables: [String: String]) throws {
        output = try ScratchFolder()
        process = try ChildProcess(
            [Self.program.path], environment: variables, output: .file(output.path + "/output"), errors: .output)
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

    func kill() { process.send(SIGKILL) }
    func stop() { process.send(SIGSTOP) }
    func resume() { process.send(SIGCONT) }

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
        switch await process.end() {
        case .exited(let status): return End(isKilled: false, status: status, lines: said)
        case .signalled(let signal): return End(isKilled: signal == SIGKILL, status: signal, lines: said)
        }
    }
}
