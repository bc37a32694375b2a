internal import Foundation
package import KizunaCore

/// The file of a vault: where it is, how it is opened, and what happens when it is damaged.
package struct StoreFile: Sendable, Equatable {
    /// Nil keeps the vault in memory.
    package let path: String?
    /// How long a write waits for another process that holds the file.
    package let busyTimeout: Duration

    package init(path: String?, busyTimeout: Duration = .seconds(5)) {
        self.path = path
        self.busyTimeout = busyTimeout
    }

    package static let inMemory = StoreFile(path: nil)

    /// Opens the file, brings it to this version, and says where a damaged one was moved, if one was found.
    ///
    /// `check` reads what must be readable for the vault to work. Damage elsewhere is found when it is met: it leaves a
    /// mark beside the file, and the next opening looks at the whole of it.
    func open<Found>(
        now: Date, check: (SQLiteConnection) throws(SyncError) -> Found
    ) throws(SyncError) -> (connection: SQLiteConnection, damage: StoreDamage?, found: Found) {
        guard let path else {
            let (connection, found) = try connect(":memory:", check)
            return (connection, nil, found)
        }
        try finishRescue(of: path, now: now)
        try prepareFolder(of: path)
        do throws(SyncError) {
            let (connection, found) = try connect(path, check)
            return (connection, nil, found)
        } catch {
            guard error.code == .storeCorrupt else { throw error }
            let damage = try rescue(path, now: now)
            let (connection, found) = try connect(path, check)
            return (connection, damage, found)
        }
    }

    /// Reads from the file as it is: nothing is made, brought to this version, or moved aside. Nil where there is none.
    func peek<Found>(_ read: (SQLiteConnection) throws(SyncError) -> Found) throws(SyncError) -> Found? {
        guard let path, FileManager.default.fileExists(atPath: path) else { return nil }
        let connection = try SQLiteConnection(path: path, busyTimeout: busyTimeout, mayCreate: false)
        defer { connection.close() }
        return try read(connection)
    }

    /// Removes the file with its companions. A process that has it open takes it for cleared at its next step, and begins
    /// a new one: no transaction of another process is under way while the file goes.
    package func remove() throws(SyncError) {
        guard let path else { return }
        let connection = try? SQLiteConnection(path: path, busyTimeout: busyTimeout, mayCreate: false)
        defer { connection?.close() }
        do throws(SyncError) {
            try connection?.execute("BEGIN IMMEDIATE")
        } catch {
            // Damage is no reason to keep it.
            if error.code == .storeBusy { throw error }
        }
        do {
            // The file itself last: whoever comes in between meets the old one, and never a new one with an old log.
            for suffix in ["-wal", "-shm", ""] where FileManager.default.fileExists(atPath: path + suffix) {
                try FileManager.default.removeItem(atPath: path + suffix)
            }
        } catch {
            throw SyncError(.storage, "The store's files could not be removed.", underlying: error)
        }
    }

    private func connect<Found>(
        _ path: String, _ check: (SQLiteConnection) throws(SyncError) -> Found
    ) throws(SyncError) -> (SQLiteConnection, Found) {
        let connection = try SQLiteConnection(path: path, busyTimeout: busyTimeout)
        do throws(SyncError) {
            // Before anything is written: a file of a newer version is left as it is.
            try StoreSchema.ensureKnown(connection)
            // FULL: a queue entry survives power loss, not only a killed process.
            try connection.execute("PRAGMA trusted_schema = OFF")
            try keepLog(connection)
            try connection.execute("PRAGMA synchronous = FULL")
            try StoreSchema.migrate(connection)
            try examineWhereMarked(path, connection)
            let found = try check(connection)
            connection.foundDamage = { Self.markDamaged(path) }
            return (connection, found)
        } catch {
            connection.close()
            // A statement that does not fit the tables meets others than this version made.
            throw error == StoreFault.unfitting ? StoreFault.damaged : error
        }
    }

    // MARK: - Saving what can be read

    private static func saved(of path: String) -> String { path + ".saved" }

    /// Saves the writes that can be read into a new file, moves the damaged one aside, and puts the new one in its place.
    /// At each moment in between, one of the two files holds the writes; `finishRescue` finds the right one.
    private func rescue(_ path: String, now: Date) throws(SyncError) -> StoreDamage {
        let rescue = StoreRescue(path: path, busyTimeout: busyTimeout)
        try rescue.write(to: Self.saved(of: path))
        let aside = try moveAside(path, now: now)
        try putInPlace(path)
        return StoreDamage(
            path: aside, savedWrites: rescue.entries.count, savedRejections: rescue.rejections.count,
            isWhole: rescue.isWhole)
    }

    /// Goes on with a rescue that a kill interrupted: the damaged file was moved aside, the new one not yet in its place.
    private func finishRescue(of path: String, now: Date) throws(SyncError) {
        let files = FileManager.default
        guard !files.fileExists(atPath: path), files.fileExists(atPath: Self.saved(of: path)) else { return }
        // The companions of the damaged file must not be taken for the new one's.
        _ = try moveAside(path, now: now)
        try putInPlace(path)
    }

    private func putInPlace(_ path: String) throws(SyncError) {
        do {
            try FileManager.default.moveItem(atPath: Self.saved(of: path), toPath: path)
        } catch {
            throw SyncError(
                .storeCorrupt, "The store file is damaged; what was saved of it waits beside it.", underlying: error)
        }
    }

    /// Turns the write-ahead log on. Where several processes do so at once on a new file, SQLite refuses some of them without
    /// waiting; they find it done.
    private func keepLog(_ connection: SQLiteConnection) throws(SyncError) {
        for attempt in 1... {
            do throws(SyncError) {
                let mode = try connection.first("PRAGMA journal_mode") { (row) throws(SyncError) in row.text(0) }
                if mode == "wal" || path == nil { return }
                try connection.execute("PRAGMA journal_mode = WAL")
                return
            } catch {
                guard error.code == .storeBusy || error.code == .storage, attempt < 30 else { throw error }
                SQLiteConnection.pause(milliseconds: 10)
            }
        }
    }

    // MARK: - Damage met while the vault was in use

    private static func mark(of path: String) -> String { path + "-suspect" }

    private static func markDamaged(_ path: String) {
        // Where not even this can be written, the damage is met again, and so is this.
        _ = FileManager.default.createFile(
            atPath: mark(of: path), contents: nil, attributes: [.posixPermissions: 0o600])
    }

    /// Looks at every page of a file in which damage was met earlier.
    private func examineWhereMarked(_ path: String, _ connection: SQLiteConnection) throws(SyncError) {
        guard FileManager.default.fileExists(atPath: Self.mark(of: path)) else { return }
        let outcome = try connection.first("PRAGMA quick_check(1)") { (row) throws(SyncError) in row.text(0) }
        guard outcome == "ok" else { throw StoreFault.damaged }
        try? FileManager.default.removeItem(atPath: Self.mark(of: path))
    }

    /// Makes the folder readable by this user alone, and the file too before SQLite creates it with other rights.
    private func prepareFolder(of path: String) throws(SyncError) {
        guard path.utf8.count <= Self.longestPath else {
            throw SyncError(
                .unwritableDirectory, "The data directory's path is too long: SQLite takes paths of some 500 bytes.")
        }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Self.unwritable(error)
        }
        // Only where there is none: `FileManager` would put a new file in the place of one that another process has begun
        // meanwhile.
        let descriptor = Foundation.open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST { return }
            throw Self.unwritable(nil)
        }
        // Whatever the process takes from the rights of its files.
        fchmod(descriptor, 0o600)
        Foundation.close(descriptor)
    }

    /// SQLite's own limit is 512, with the names of the file's companions.
    private static let longestPath = 500

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
        try? FileManager.default.removeItem(atPath: Self.mark(of: path))
        return aside
    }
}
