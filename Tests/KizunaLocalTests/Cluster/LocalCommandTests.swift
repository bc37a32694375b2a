import Foundation
import KizunaLocal
import Testing

/// Runs the built `kizuna` as a user does.
@Suite struct LocalCommandTests {
    /// A started `kizuna local`, and what it printed.
    private struct Running {
        let process: ChildProcess
        let lines: [String]
        let folder: String
    }

    private var program: URL {
        Bundle.module.bundleURL.deletingLastPathComponent().appendingPathComponent("kizuna")
    }

    private func start(_ arguments: [String] = []) async throws -> Running {
        let folder = "/tmp/kizuna-test-\(ProcessInfo.processInfo.globallyUniqueString)"
        let process = try ChildProcess(
            [program.path, "local", "--data", folder, "--print-env"] + arguments, input: .pipe, output: .pipe,
            errors: .pipe)
        let text = await process.outputText(until: "SERVICE_ROLE")
        return Running(process: process, lines: text.split(separator: "\n").map(String.init), folder: folder)
    }

    /// The folder of the server's socket, as the server's own lock file names it.
    private func socketFolder(_ running: Running) throws -> String {
        let lock = try String(contentsOfFile: running.folder + "/postmaster.pid", encoding: .utf8)
        return lock.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)[4]
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func aSignalEndsItInGoodOrder(_ signal: Int32) async throws {
        let running = try await start()
        defer { try? FileManager.default.removeItem(atPath: running.folder) }
        #expect(
            running.lines.map { $0.prefix { $0 != "=" } } == [
                "SUPABASE_URL", "SUPABASE_ANON_KEY", "KIZUNA_DATABASE", "SUPABASE_SERVICE_ROLE_KEY",
            ])
        let socket = try socketFolder(running)
        running.process.send(signal)
        #expect(await running.process.end() == .exited(0))
        #expect(!FileManager.default.fileExists(atPath: socket))
        #expect(!FileManager.default.fileExists(atPath: running.folder + "/postmaster.pid"))
    }

    @Test func aKilledOwnerLeavesNoServerBehind() async throws {
        let running = try await start()
        defer { try? FileManager.default.removeItem(atPath: running.folder) }
        let socket = try socketFolder(running)
        #expect(FileManager.default.fileExists(atPath: socket + "/.s.PGSQL.5432"))
        running.process.send(SIGKILL)
        #expect(await running.process.end() == .signalled(SIGKILL))
        // Ends when the guard, which shares standard error, has ended too.
        _ = try running.process.errors?.readToEnd()
        #expect(!FileManager.default.fileExists(atPath: socket))
        #expect(!FileManager.default.fileExists(atPath: running.folder + "/postmaster.pid"))
    }

    @Test func itEndsWithItsParentWhereAskedTo() async throws {
        let running = try await start(["--with-parent"])
        defer { try? FileManager.default.removeItem(atPath: running.folder) }
        let socket = try socketFolder(running)
        // What the system does for a parent that ends in any way.
        try running.process.input?.close()
        #expect(await running.process.end() == .exited(0))
        #expect(!FileManager.default.fileExists(atPath: socket))
    }

    @Test func wrongOptionIsNamedOnStandardError() async throws {
        for (arguments, name) in [
            (["--port", "x"], "--port"), (["--odd"], "--odd"), (["--sql"], "--sql"), (["--data", ""], "--data"),
        ] {
            let process = try ChildProcess([program.path, "local"] + arguments, output: .pipe, errors: .pipe)
            #expect(await process.end() == .exited(2))
            let errors = String(decoding: try process.errors?.readToEnd() ?? Data(), as: UTF8.self)
            #expect(errors.split(separator: "\n").first?.contains(name) == true, "\(errors)")
            #expect(await process.outputText() == "")
        }
    }

    @Test func theDemoTakesNoArgumentsAndSaysSo() async throws {
        for (argument, status) in [("--help", Int32(0)), ("--odd", 64)] {
            let process = try ChildProcess([program.path, "demo", argument], output: .pipe)
            let text = await process.outputText()
            #expect(await process.end() == .exited(status))
            #expect(text.hasPrefix("usage: kizuna demo"))
        }
    }

    /// The server says it in its log, which goes with the folder it stands in.
    @Test func dataOfAnotherVersionIsNamedAsTheReason() async throws {
        let first = try await start()
        defer { try? FileManager.default.removeItem(atPath: first.folder) }
        first.process.send(SIGTERM)
        #expect(await first.process.end() == .exited(0))
        let version = try FileHandle(forWritingTo: URL(fileURLWithPath: first.folder + "/PG_VERSION"))
        try version.truncate(atOffset: 0)
        try version.write(contentsOf: Data("9.6\n".utf8))
        try version.close()
        let again = try ChildProcess([program.path, "local", "--data", first.folder], output: .pipe, errors: .pipe)
        #expect(await again.end() == .exited(1))
        let text = String(decoding: try again.errors?.readToEnd() ?? Data(), as: UTF8.self)
        #expect(text.contains("version 9.6"), "\(text)")
    }
}
