internal import CSQLite
internal import KizunaCore

/// SQLite's result codes as errors of this package. Neither SQL nor values get into the text.
enum StoreFault {
    static let damaged = SyncError(
        .storeCorrupt, "The store file is damaged. It is moved aside and kept when the client is created again.")

    /// A statement that the file's tables do not fit.
    static let unfitting = SyncError(
        .storage, "SQLite could not do what it was asked (result \(SQLITE_ERROR)); nothing was written.")

    /// Met by the vault alone, which then opens the file that is there now.
    static let moved = SyncError(.storage, "The store file was removed or moved; nothing was written.")

    /// Rows by their number. A broken page may give one twice.
    static func unique<Value>(_ rows: [(Int64, Value)]) throws(SyncError) -> [Int64: Value] {
        var byNumber: [Int64: Value] = [:]
        for (number, value) in rows where byNumber.updateValue(value, forKey: number) != nil { throw damaged }
        return byNumber
    }

    static func error(code: Int32, doing what: String) -> SyncError {
        switch code & 0xFF {
        // The third is what a reader says that found the lock taken again and again.
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
            SyncError(.storeBusy, "Another process holds the store; nothing was written. Try again. (SQLite \(code))")
        case SQLITE_FULL:
            SyncError(.diskFull, "The disk is full; nothing was written. Free some space and try again.")
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            damaged
        case SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH:
            SyncError(
                .unwritableDirectory,
                "The store cannot be opened for writing (SQLite \(code)); check the data directory's permissions.")
        case SQLITE_ERROR:
            unfitting
        default:
            SyncError(.storage, "SQLite could not \(what) (result \(code)); nothing was written.")
        }
    }
}
