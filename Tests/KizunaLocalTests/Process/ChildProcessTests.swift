import Foundation
import KizunaLocal
import Testing

/// Programs that run beside the tests.
@Suite(.timeLimit(.minutes(1))) struct ChildProcessTests {
    private func shell(
        _ script: String, environment: [String: String]? = nil, folder: String? = nil,
        input: ChildProcess.Channel = .nothing, output: ChildProcess.Channel = .pipe,
        errors: ChildProcess.Channel = .nothing
    ) throws -> ChildProcess {
        try ChildProcess(
            ["/bin/sh", "-c", script], environment: environment, folder: folder, input: input, output: output,
            errors: errors)
    }

    @Test func itsEndIsTold() async throws {
        #expect(try await shell("exit 0").end() == .exited(0))
        #expect(try await shell("exit 7").end() == .exited(7))
        let waiting = try shell("read line", input: .pipe)
        waiting.send(SIGKILL)
        #expect(await waiting.end() == .signalled(SIGKILL))
        // Told again, and harmless to signal.
        waiting.send(SIGKILL)
        #expect(await waiting.end() == .signalled(SIGKILL))
    }

    @Test func severalMayWaitForOneEnd() async throws {
        let child = try shell("read line; exit 3", input: .pipe)
        async let first = child.end()
        async let second = child.end()
        try child.input?.close()
        #expect(await [first, second] == [.exited(3), .exited(3)])
    }

    @Test func whatItReadsAndWritesGoesThroughPipes() async throws {
        let child = try shell("read line; echo \"out $line\"; echo \"err $line\" >&2", input: .pipe, errors: .pipe)
        try child.input?.write(contentsOf: Data("grüße\n".utf8))
        #expect(await child.outputText() == "out grüße")
        #expect(String(decoding: try child.errors?.readToEnd() ?? Data(), as: UTF8.self) == "err grüße\n")
        #expect(await child.end() == .exited(0))
    }

    @Test func itsOutputIsReadUpToAWord() async throws {
        let child = try shell("echo started; read line; echo ended", input: .pipe)
        #expect(await child.outputText(until: "started") == "started")
        try child.input?.close()
        #expect(await child.outputText() == "ended")
    }

    @Test func itsErrorsMayGoWhereTheOutputGoes() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kizuna-child-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("said").path
        #expect(try await shell("echo one; echo two >&2", output: .file(file), errors: .output).end() == .exited(0))
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "one\ntwo\n")
        #expect(try await shell("echo one; echo two >&2", errors: .output).outputText() == "one\ntwo")
    }

    @Test func itStartsWhereAndWithWhatIsSaid() async throws {
        let child = try shell("pwd; env", environment: ["KIZUNA_WORD": "a b"], folder: "/usr")
        let lines = await child.outputText().split(separator: "\n").map(String.init)
        #expect(lines.first == "/usr")
        #expect(lines.contains("KIZUNA_WORD=a b"))
        // The shell adds its own folder and nothing of ours.
        #expect(!lines.contains { $0.hasPrefix("HOME=") || $0.hasPrefix("PATH=") })
    }

    /// A copy of another child's pipe would keep that pipe from ending.
    @Test func itGetsNoOpenFileOfOurs() async throws {
        let open = FileHandle(forReadingAtPath: "/proc/self/status")
        let other = try shell("read line", input: .pipe)
        let child = try shell("ls /proc/$$/fd")
        #expect(await child.outputText().split(separator: "\n") == ["0", "1", "2"])
        try other.input?.close()
        #expect(await other.end() == .exited(1))
        try open?.close()
    }

    /// Each waits for the end of an input that only this process may hold, while others are being started.
    @Test func manyAtOnceAllEnd() async throws {
        let ends = try await withThrowingTaskGroup(of: ChildProcess.End.self) { group in
            for number in 0..<64 {
                group.addTask {
                    let child = try ChildProcess(
                        ["/bin/sh", "-c", "cat; exit \(number)"], input: .pipe, output: .pipe)
                    try child.input?.close()
                    guard await child.outputText().isEmpty else { return .exited(-1) }
                    return await child.end()
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(ends.map { "\($0)" }) == Set((0..<64).map { "exited(\($0))" }))
    }

    @Test func aProgramThatCannotBeStartedIsNamed() throws {
        let fault = try #require(throws: LocalError.self) { try ChildProcess(["/nowhere/kizuna-none"]) }
        guard case .programFailed(let program, let output) = fault else {
            Issue.record("\(fault)")
            return
        }
        #expect(program == "kizuna-none")
        #expect(output.contains("No such file"))
    }
}
