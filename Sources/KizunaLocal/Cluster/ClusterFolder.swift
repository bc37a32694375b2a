internal import Foundation

/// Where a cluster lives: its data folder, and a short folder for its socket.
struct ClusterFolder: Sendable {
    let data: String
    /// Short on purpose: a socket path may have 103 bytes on macOS and 107 on Linux.
    let socket: String
    /// The folder to remove when the cluster stops; it holds the socket, and the data too when they are thrown away.
    let scratch: String

    var isKept: Bool { !data.hasPrefix(scratch + "/") }
    var log: String { scratch + "/server.log" }
    var isInitialised: Bool { FileManager.default.fileExists(atPath: data + "/PG_VERSION") }

    /// Makes the folders; a given data folder is kept, otherwise everything is thrown away at the end.
    static func make(keepingDataIn dataDirectory: String?, for account: ServerAccount) throws(LocalError) -> Self {
        guard let dataDirectory else {
            let scratch = try temporaryFolder(for: account)
            return ClusterFolder(data: scratch + "/data", socket: scratch, scratch: scratch)
        }
        let kept = URL(fileURLWithPath: dataDirectory).standardizedFileURL.path
        do {
            try FileManager.default.createDirectory(atPath: kept, withIntermediateDirectories: true)
        } catch {
            throw .unusableFolder(path: kept, reason: "it cannot be made")
        }
        let content = (try? FileManager.default.contentsOfDirectory(atPath: kept)) ?? []
        guard content.isEmpty || content.contains("PG_VERSION") else {
            throw .unusableFolder(path: kept, reason: "it is not empty and holds no PostgreSQL cluster")
        }
        if content.isEmpty { try account.adopt(kept) }
        try clearStaleLock(in: kept)
        let scratch = try temporaryFolder(for: account)
        return ClusterFolder(data: kept, socket: scratch, scratch: scratch)
    }

    private static func temporaryFolder(for account: ServerAccount) throws(LocalError) -> String {
        var template = Array("/tmp/kz-XXXXXX".utf8CString)
        guard let path = mkdtemp(&template) else {
            throw .unusableFolder(path: "/tmp", reason: String(cString: strerror(errno)))
        }
        let folder = String(cString: path)
        try account.adopt(folder)
        return folder
    }

    /// Removes the lock of a server that is gone. PostgreSQL does so itself, unless the process number now belongs
    /// to some other program, which is usual after a restart of the machine or in a container.
    private static func clearStaleLock(in data: String) throws(LocalError) {
        let lock = data + "/postmaster.pid"
        guard let text = try? String(contentsOfFile: lock, encoding: .utf8),
            let process = text.split(separator: "\n").first.flatMap({ pid_t($0) })
        else { return }
        guard isPostgres(process) else {
            unlink(lock)
            return
        }
        throw .unusableFolder(path: data, reason: "a PostgreSQL server (process \(process)) is running on it")
    }

    private static func isPostgres(_ process: pid_t) -> Bool {
        guard kill(process, 0) == 0 || errno == EPERM else { return false }
        guard let name = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8) else { return true }
        return name.hasPrefix("postgres")
    }
}
