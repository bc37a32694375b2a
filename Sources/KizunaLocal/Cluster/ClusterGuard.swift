internal import Foundation

/// The shell process that starts the server, waits for the end of its owner, and cleans up.
///
/// It reads from a pipe that only the owning process can write to. When the pipe closes, because the owner stopped
/// the cluster, ended, crashed or was killed, it stops the server and removes the scratch folder. Nothing has to run in
/// the owner for that. The guard does the starting too, so that an owner killed meanwhile leaves nothing behind. It keeps
/// the owner's standard error open: whoever reads that to its end knows that everything has been cleaned up.
final class ClusterGuard: Sendable {
    private let process: ChildProcess

    private static let script = """
        trap '' INT TERM HUP
        start=$1 stop=$2 scratch=$3
        if eval "$start" 2>&1; then echo kizuna-started; else
          cat "$scratch/server.log" 2>/dev/null
          rm -rf "$scratch"
          exit 1
        fi
        exec >/dev/null
        cat
        eval "$stop" 2>&1
        rm -rf "$scratch"
        """

    private init(process: ChildProcess) { self.process = process }

    /// Runs the start command; returns when the server is ready.
    static func start(start: [String], stop: [String], scratch: String) async throws -> ClusterGuard {
        let process = try ChildProcess(
            ["/bin/sh", "-c", script, "kizuna-guard", quoted(start), quoted(stop), scratch], folder: "/", input: .pipe,
            output: .pipe)
        let text = await process.outputText(until: "kizuna-started")
        let owned = ClusterGuard(process: process)
        guard text.contains("kizuna-started") else {
            await owned.release()
            throw LocalError.programFailed(program: "pg_ctl", output: text)
        }
        return owned
    }

    /// Lets the guard clean up, and waits until it has.
    func release() async {
        try? process.input?.close()
        _ = await process.end()
    }

    private static func quoted(_ commandLine: [String]) -> String {
        commandLine.map { "'" + $0.replacingOccurrences(of: "'", with: "'\\''") + "'" }.joined(separator: " ")
    }
}
