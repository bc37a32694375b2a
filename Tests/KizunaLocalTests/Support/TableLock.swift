import Foundation
import KizunaLocal

/// Keeps a table locked, so that every write to it waits, without anybody sleeping.
struct TableLock {
    private let session: ChildProcess

    /// Returns when the table is locked.
    init(_ table: String, of backend: LocalBackend) async throws {
        session = try ChildProcess(
            [PostgresInstallation.find().program("psql"), "-X", "-d", backend.connectionString], input: .pipe,
            output: .pipe)
        try await tell("BEGIN; LOCK TABLE \(table) IN SHARE MODE;", until: "LOCK TABLE")
    }

    /// Ends the lock, and the session.
    func release() async throws {
        try await tell("ROLLBACK;", until: "ROLLBACK")
        try session.input?.close()
        _ = await session.end()
    }

    private func tell(_ command: String, until answer: String) async throws {
        try session.input?.write(contentsOf: Data("\(command)\n".utf8))
        _ = await session.outputText(until: answer)
    }
}
