import Foundation
import Testing

/// Runs the built `kizuna` as a user does.
@Suite struct LocalCommandTests {
    /// A started `kizuna local`, and what it printed.
    private struct Running {
        let process: Process
        let lines: [String]
        let folder: String
        /// Ends when the command and everything that cleans up after it have ended.
        let errors: FileHandle
    }

    private var program: URL {
        Bundle.module.bundleURL.deletingLastPathComponent().appendingPathComponent("kizuna")
    }

    private func start(_ arguments: [String] = [], input: Pipe? = nil) throws -> Running {
        let folder = "/tmp/kizuna-test-\(ProcessInfo.processInfo.globallyUniqueString)"
        let process = Process()
        process.executableURL = program
        process.arguments = ["local", "--data", folder, "--print-env"] + arguments
        let output = Pipe()
        let errors = Pipe()
        process.standardOutput = output
        process.standardError = errors
        if let input { process.standardInput = input }
        try process.run()
        var text = ""
        while !text.contains("SERVICE_ROLE"), case let part = output.fileHandleForReading.availableData, !part.isEmpty {
            text += String(decoding: part, as: UTF8.self)
        }
        return Running(
            process: process, lines: text.split(separator: "\n").map(String.init), folder: folder,
            errors: errors.fileHandleForReading)
    }

    /// The folder of the server's socket, as the server's own lock file names it.
    private func socketFolder(_ running: Running) throws -> String {
        let lock = try String(contentsOfFile: running.folder + "/postmaster.pid", encoding: .utf8)
        return lock.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)[4]
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func aSignalEndsItInGoodOrder(_ signal: Int32) throws {
        let running = try start()
        defer { try? FileManager.default.removeItem(atPath: running.folder) }
        #expect(
            running.lines.map { $0.prefix { $0 != "=" } } == [
                "SUPABASE_URL", "SUPABASE_ANON_KEY", "KIZUNA_DATABASE", "SUPABASE_SERVICE_ROLE_KEY",
            ])
        let socket = try socketFolder(running)
        kill(running.process.processIdentifier, signal)
        running.process.waitUntilExit()
        #expect(running.process.terminationStatus == 0)
        #expect(!FileManager.default.fileExists(atPath: socket))
        #expect(!FileManager.default.fileExists(atPath: running.folder + "/postmaster.pid"))
    }

    @Test func aKilledOwnerLeavesNoServerBehind() throws {
        let running = try start()
        defer { try? FileManager.default.removeItem(atPath: running.folder) }
        let socket = try socketFolder(running)
        #expect(FileManager.default.fileExists(atPath: socket + "/.s.PGSQL.5432"))
        kill(running.process.processIdentifier, SIGKILL)
        // Ends when the guard, which shares standard error, has ended too.
        _ = try running.errors.readToEnd()
        #expect(!FileManager.default.fileExists(atPath: socket))
        #expect(!FileManager.default.fileExists(atPath: running.folder + "/postmaster.pid"))
    }

    @Test func itEndsWithItsParentWhereAskedTo() throws {
        let parent = Pipe()
        let running = try start(["--with-parent"], input: parent)
        defer { try? FileManager.default.removeItem(atPath: running.folder) }
        let socket = try socketFolder(running)
        // What the system does for a parent that ends in any way.
        try parent.fileHandleForWriting.close()
        running.process.waitUntilExit()
        #expect(running.process.terminationStatus == 0)
        #expect(!FileManager.default.fileExists(atPath: socket))
    }

    @Test func wrongArgumentsShowTheUsage() throws {
        for arguments in [["--port", "x"], ["--odd"], ["--sql"]] {
            let process = Process()
            process.executableURL = program
            process.arguments = ["local"] + arguments
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 64)
            #expect(text.hasPrefix("usage: kizuna local"))
        }
    }
}
