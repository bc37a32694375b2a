import Foundation
import KizunaLocal

/// Keeps a table locked, so that every write to it waits, without anybody sleeping.
struct TableLock {
    private let process: Process
    private let input: FileHandle
    private let output: FileHandle

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
        self.output = output.fileHandleForReading
        try tell("BEGIN; LOCK TABLE \(table) IN SHARE MODE;", until: "LOCK TABLE")
    }

    /// Ends the lock, and the session. The end of its input is not waited for: a child that another test started just now
    /// may hold a copy of it.
    func release() throws {
        try tell("ROLLBACK;", until: "ROLLBACK")
        try input.write(contentsOf: Data("\\q\n".utf8))
        try input.close()
    }

    private func tell(_ command: String, until answer: String) throws {
        try input.write(contentsOf: Data("\(command)\n".utf8))
        var text = ""
        while !text.contains(answer), case let part = output.availableData, !part.isEmpty {
            text += String(decoding: part, as: UTF8.self)
        }
    }
}
