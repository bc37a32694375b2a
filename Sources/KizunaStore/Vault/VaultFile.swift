internal import Foundation
internal import KizunaCore

/// The file of a vault: where it is, how it is opened, and what happens when it is damaged.
package struct VaultFile: Sendable, Equatable {
    /// Nil keeps the vault in memory.
    package let path: String?

    package init(path: String?) { self.path = path }

    package static let inMemory = VaultFile(path: nil)

    /// Opens the file, brings it to this version, and says where a damaged one was moved, if one was found.
    func open(now: Date) throws(SyncError) -> (connection: SQLiteConnection, movedAside: String?) {
        guard let path else { return (try connect(":memory:"), nil) }
        try prepareFolder(of: path)
        do throws(SyncError) {
            return (try connect(path), nil)
        } catch {
            guard error.code == .storeCorrupt else { throw error }
            let aside = try moveAside(path, now: now)
            return (try connect(path), aside)
        }
    }

    private func connect(_ path: String) throws(SyncError) -> SQLiteConnection {
        let connection = try SQLiteConnection(path: path)
        do throws(SyncError) {
            // FULL: a queue entry survives power loss, not only a killed process.
            try connection.execute("PRAGMA trusted_schema = OFF")
            try connection.execute("PRAGMA journal_mode = WAL")
            try connection.execute("PRAGMA synchronous = FULL")
            try StoreSchema.migrate(connection)
            return connection
        } catch {
            connection.close()
            throw error
        }
    }

    /// Makes the folder readable by this user alone, and the file too before SQLite creates it with other rights.
    private func prepareFolder(of path: String) throws(SyncError) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Self.unwritable(error)
        }
        guard !FileManager.default.fileExists(atPath: path) else { return }
        guard
            FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        else { throw Self.unwritable(nil) }
    }

    private static func unwritable(_ error: (any Error)?) -> SyncError {
        SyncError(
            .unwritableDirectory,
            "The data directory cannot be made or written; give a folder this process may write to.", underlying: error)
    }

    /// Renames the damaged file and its companions, so that nothing of it is lost.
    private func moveAside(_ path: String, now: Date) throws(SyncError) -> String {
        let stamp = Int(now.timeIntervalSince1970 * 1000)
        let aside = "\(path).damaged-\(stamp)"
        do {
            for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
                try FileManager.default.moveItem(atPath: path + suffix, toPath: aside + suffix)
            }
        } catch {
            throw SyncError(
                .storeCorrupt, "The store file is damaged and could not be moved aside; nothing was changed.",
                underlying: error)
        }
        return aside
    }
}
