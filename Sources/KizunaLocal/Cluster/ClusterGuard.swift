internal import Foundation
internal import Synchronization

/// The shell process that starts the server, waits for the end of its owner, and cleans up.
///
/// It reads from a pipe that only the owning process can write to. When the pipe closes, because the owner stopped
/// the cluster, ended, crashed or was killed, it stops the server and removes the scratch folder. Nothing has to run in
/// the owner for that. The guard does the starting too, so that an owner killed meanwhile leaves nothing behind. It keeps
/// the owner's standard error open: whoever reads that to its end knows that everything has been cleaned up.
final class ClusterGuard: Sendable {
    private let process: Process
    private let ownerEnd: Mutex<Int32>

    private static let script = """
        trap '' INT TERM HUP
        start=$1 stop=$2 scratch=$3
        if eval "$start" 2>&1; then echo kizuna-started; else rm -rf "$scratch"; exit 1; fi
        exec >/dev/null
        cat
        eval "$stop" 2>&1
        rm -rf "$scratch"
        """

    private init(process: Process, ownerEnd: Int32) {
        self.process = process
        self.ownerEnd = Mutex(ownerEnd)
    }

    /// Runs the start command; returns when the server is ready.
    static func start(start: [String], stop: [String], scratch: String) async throws -> ClusterGuard {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else {
            throw LocalError.unusableFolder(path: scratch, reason: String(cString: strerror(errno)))
        }
        // A copy of the writing end in any other child would keep the guard waiting.
        _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script, "kizuna-guard", quoted(start), quoted(stop), scratch]
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        process.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let owned = ClusterGuard(process: process, ownerEnd: ends[1])
        let reader = output.fileHandleForReading
        let text = await withCheckedContinuation { (continuation: CheckedContinuation<String, Never>) in
            Thread { continuation.resume(returning: readUntilStarted(reader)) }.start()
        }
        guard text.contains("kizuna-started") else {
            await owned.release()
            throw LocalError.programFailed(
                program: "pg_ctl", output: text.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        return owned
    }

    /// Lets the guard clean up, and waits until it has.
    func release() async {
        ownerEnd.withLock { end in
            guard end >= 0 else { return }
            close(end)
            end = -1
        }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            Thread { [process] in
                process.waitUntilExit()
                continuation.resume()
            }.start()
        }
    }

    private static func readUntilStarted(_ handle: FileHandle) -> String {
        var text = ""
        // What is there, without waiting for more: another child may keep the pipe from ending.
        while case let part = handle.availableData, !part.isEmpty {
            text += String(decoding: part, as: UTF8.self)
            if text.contains("kizuna-started") { break }
        }
        return text
    }

    private static func quoted(_ commandLine: [String]) -> String {
        commandLine.map { "'" + $0.replacingOccurrences(of: "'", with: "'\\''") + "'" }.joined(separator: " ")
    }
}
