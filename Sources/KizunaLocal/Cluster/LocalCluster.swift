internal import Foundation

/// A PostgreSQL server of our own, reachable through a socket in a folder of ours and over no network.
///
/// ```swift
/// let cluster = try await LocalCluster.start()
/// try await cluster.stop()
/// ```
/// The server stops and its throw-away folder goes when `stop()` is called and when this process ends in any way.
package final class LocalCluster: Sendable {
    /// The folder of the server's socket.
    package let socketFolder: String
    /// The folder of the server's data.
    package let dataFolder: String
    /// Whether the data outlives the server.
    package let isKept: Bool

    private let installation: PostgresInstallation
    private let account: ServerAccount
    private let guardian: ClusterGuard

    private init(
        folder: ClusterFolder, installation: PostgresInstallation, account: ServerAccount, guardian: ClusterGuard
    ) {
        socketFolder = folder.socket
        dataFolder = folder.data
        isKept = folder.isKept
        self.installation = installation
        self.account = account
        self.guardian = guardian
    }

    /// Starts a server; with a data folder its content is kept and opened again the next time.
    package static func start(dataDirectory: String? = nil) async throws -> LocalCluster {
        let installation = try PostgresInstallation.find()
        let account = try ServerAccount.current()
        let folder = try ClusterFolder.make(keepingDataIn: dataDirectory, for: account)
        do {
            if !folder.isInitialised { try await initialise(folder, installation, account) }
            let guardian = try await ClusterGuard.start(
                start: account.commandLine(installation.program("pg_ctl"), startArguments(folder)),
                stop: account.commandLine(installation.program("pg_ctl"), stopArguments(folder.data, "immediate")),
                scratch: folder.scratch)
            return LocalCluster(folder: folder, installation: installation, account: account, guardian: guardian)
        } catch {
            try? FileManager.default.removeItem(atPath: folder.scratch)
            throw error
        }
    }

    /// Stops the server in good order and removes what is not kept.
    package func stop() async {
        // Where the server is gone already there is nothing to stop; the guard cleans up in any case.
        try? await ProgramRun.run(
            account.commandLine(installation.program("pg_ctl"), Self.stopArguments(dataFolder, "fast")))
        await guardian.release()
    }

    /// Runs a SQL file as superuser with `psql`.
    ///
    /// - Throws: ``LocalError/programFailed(program:output:)`` with file, line and text of the first failed statement.
    func runFile(_ path: String, database: String) async throws {
        try await ProgramRun.run([
            installation.program("psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-v", "SHOW_CONTEXT=never",
            "-o", "/dev/null", "-h", socketFolder, "-U", "postgres", "-d", database,
            "-f", URL(fileURLWithPath: path).path,
        ])
    }

    private static func initialise(
        _ folder: ClusterFolder, _ installation: PostgresInstallation, _ account: ServerAccount
    ) async throws {
        var arguments = [
            "-D", folder.data, "--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8", "--auth=trust",
            "--no-instructions",
        ]
        if !folder.isKept { arguments.append("--no-sync") }
        try await ProgramRun.run(account.commandLine(installation.program("initdb"), arguments))
    }

    private static func startArguments(_ folder: ClusterFolder) -> [String] {
        var settings = [
            "listen_addresses=", "unix_socket_directories=\(folder.socket)", "unix_socket_permissions=0700",
            "timezone=UTC", "log_timezone=UTC", "wal_level=logical", "shared_buffers=32MB", "max_connections=600",
            "jit=off",
        ]
        if !folder.isKept { settings += ["fsync=off", "synchronous_commit=off", "full_page_writes=off"] }
        let options = settings.map { "-c \($0)" }.joined(separator: " ")
        return ["start", "-D", folder.data, "-w", "-s", "-l", folder.log, "-o", options]
    }

    private static func stopArguments(_ data: String, _ mode: String) -> [String] {
        ["stop", "-D", data, "-w", "-s", "-m", mode]
    }
}
