import Foundation
import KizunaLocal

/// Keeps a table locked, so that every write to it waits, without anybody sleeping.
struct TableLock {
    private let process: Process
    private let input: FileHandle

    /// Returns when the table is locked.
    init(_ table: String, of backend: LocalBackend) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try PostgresInstallation.find().program("psql"))
        process.arguments = ["-X", "-d", backend.connectionString]
        let input = Pipe()
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        self.process = process
        self.input = input.fileHandleForWriting
        try self.input.write(contentsOf: Data("BEGIN; LOCK TABLE \(table) IN SHARE MODE;\n".utf8))
        var text = ""
        while !text.contains("LOCK TABLE"), case let part = output.fileHandleForReading.availableData, !part.isEmpty {
            text += String(decoding: part, as: UTF8.self)
        }
    }

    /// Ends the session and with it the lock.
    func release() throws {
        try input.close()
        process.waitUntilExit()
    }
}
