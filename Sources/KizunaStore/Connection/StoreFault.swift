internal import CSQLite
internal import KizunaCore

/// SQLite's result codes as errors of this package. Neither SQL nor values get into the text.
enum StoreFault {
    static let damaged = SyncError(
        .storeCorrupt, "The store file is damaged. It is moved aside and kept when the client is created again.")

    /// Met by the vault alone, which then opens the file that is there now.
    static let moved = SyncError(.storage, "The store file was removed or moved; nothing was written.")

    static func error(code: Int32, doing what: String) -> SyncError {
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED:
            SyncError(.storeBusy, "Another process holds the store; nothing was written. Try again. (SQLite \(code))")
        case SQLITE_FULL:
            SyncError(.diskFull, "The disk is full; nothing was written. Free some space and try again.")
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            damaged
        case SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH:
            SyncError(
                .unwritableDirectory,
                "The store cannot be opened for writing (SQLite \(code)); check the data directory's permissions.")
        default:
            SyncError(.storage, "SQLite could not \(what) (result \(code)); nothing was written.")
        }
    }
}
