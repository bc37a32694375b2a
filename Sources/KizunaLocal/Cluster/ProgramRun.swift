internal import Foundation
internal import Synchronization

/// Runs one program to its end without blocking the caller's thread.
enum ProgramRun {
    /// Throws what the program printed when it does not end with 0.
    static func run(_ commandLine: [String]) async throws {
        let program = commandLine.first ?? ""
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = Array(commandLine.dropFirst())
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        // Told by Foundation's own thread; `waitUntilExit` would hold this one, and misses an end now and then.
        let (ending, ended) = AsyncStream<Void>.makeStream()
        process.terminationHandler = { _ in ended.finish() }
        let text = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<String, any Error>) in
            // Reading to the end of the pipe also waits for the program; a daemon it leaves behind must not hold it.
            let reader = Thread {
                let bytes = (try? output.fileHandleForReading.readToEnd()) ?? nil
                continuation.resume(returning: String(decoding: bytes ?? Data(), as: UTF8.self))
            }
            do {
                try process.run()
                reader.start()
            } catch {
                continuation.resume(throwing: error)
            }
        }
        for await _ in ending {}
        guard process.terminationStatus == 0 else {
            throw LocalError.programFailed(
                program: program.split(separator: "/").last.map(String.init) ?? program,
                output: text.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }
}
