import Foundation
import KizunaLocal
import Testing

@Suite struct ClusterTests {
    private func temporaryFolder() throws -> String {
        let path = "/tmp/kizuna-test-\(ProcessInfo.processInfo.globallyUniqueString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// Whether a PostgreSQL server answers on the socket in this folder.
    private func isServed(_ folder: String) -> Bool { exists(folder + "/.s.PGSQL.5432") }

    @Test func stoppingRemovesTheFolder() async throws {
        let cluster = try await LocalCluster.start()
        #expect(isServed(cluster.socketFolder))
        #expect(exists(cluster.dataFolder + "/postmaster.pid"))
        await cluster.stop()
        #expect(!exists(cluster.socketFolder))
        #expect(!exists(cluster.dataFolder))
    }

    @Test func theServerListensOnItsSocketOnly() async throws {
        let backend = try await LocalBackend.start()
        let rows = try await backend.query(
            "SELECT current_setting('listen_addresses') AS tcp, current_setting('server_encoding') AS encoding, "
                + "(SELECT datcollate FROM pg_database WHERE datname = current_database()) AS locale")
        #expect(rows == [["tcp": "", "encoding": "UTF8", "locale": "C.UTF-8"]])
        await backend.stop()
        await #expect(throws: LocalError.self) { try await backend.query("SELECT 1") }
        await #expect(throws: RawClient.Fault.refused) { try await backend.send("GET", "/health") }
    }

    @Test func keptDataIsThereTheNextTime() async throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let settings = LocalSettings(
            dataDirectory: folder, sql: ["CREATE TABLE notes (id int PRIMARY KEY)"])
        let first = try await LocalBackend.start(settings)
        #expect(try await first.send("POST", "/rest/v1/notes", #"{"id":7}"#).status == 201)
        await first.stop()
        #expect(!exists(folder + "/postmaster.pid"))
        // The same SQL is given again; it has been run already.
        let second = try await LocalBackend.start(settings)
        #expect(try await second.send("GET", "/rest/v1/notes").text == #"[{"id":7}]"#)
        await second.stop()
    }

    @Test func aStaleLockDoesNotKeepTheDataShut() async throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        await (try await LocalCluster.start(dataDirectory: folder)).stop()
        // The number now belongs to a program that is no server: this one.
        let lock = "\(getpid())\n\(folder)\n1\n5432\n/tmp\n\n"
        try lock.write(toFile: folder + "/postmaster.pid", atomically: false, encoding: .utf8)
        let again = try await LocalCluster.start(dataDirectory: folder)
        #expect(isServed(again.socketFolder))
        await again.stop()
    }

    @Test func dataThatIsInUseIsLeftAlone() async throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let first = try await LocalCluster.start(dataDirectory: folder)
        await #expect(throws: LocalError.self) { try await LocalCluster.start(dataDirectory: folder) }
        #expect(isServed(first.socketFolder))
        await first.stop()
    }

    @Test func aFolderOfOtherThingsIsRefused() async throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try "mine".write(toFile: folder + "/diary.txt", atomically: true, encoding: .utf8)
        await #expect(throws: LocalError.self) { try await LocalCluster.start(dataDirectory: folder) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["diary.txt"])
    }

    @Test func withoutPostgreSQLThePackageIsNamed() {
        let error = #expect(throws: LocalError.self) {
            try PostgresInstallation.find(roots: ["/nowhere"], searchPath: "/nowhere/else")
        }
        #expect(error?.description.contains("apt-get install postgresql") == true)
    }

    @Test func theNewestInstallationIsTaken() throws {
        let root = try temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: root) }
        for (version, programs) in [("9", 3), ("15", 3), ("16", 3), ("17", 1)] {
            let folder = "\(root)/\(version)/bin"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for name in ["postgres", "initdb", "pg_ctl"].prefix(programs) {
                _ = FileManager.default.createFile(
                    atPath: "\(folder)/\(name)", contents: nil, attributes: [.posixPermissions: 0o755])
            }
        }
        #expect(try PostgresInstallation.find(roots: [root], searchPath: "").programs == "\(root)/16/bin")
    }

    @Test func aWrongStatementStopsTheStart() async throws {
        let error = await #expect(throws: LocalError.self) {
            try await LocalBackend.start(.init(sql: ["CREATE TABLE"]))
        }
        guard case .database(let failure) = error else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(failure.sqlState == "42601")
    }
}
