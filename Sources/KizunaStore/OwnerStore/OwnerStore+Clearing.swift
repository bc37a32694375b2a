package import KizunaCore

// How a vault is left when its owner signs out.

extension OwnerStore {
    /// Removes the cached rows; unsent and refused writes stay, unless they are to be discarded too. What was removed is
    /// gone from the file as well, not merely marked as free.
    package func seal(discarding: Bool) throws(SyncError) {
        try clear(keepingQueue: !discarding)
        try commit { (_) throws(SyncError) in try deliveries.forgetRows() }
        shrink()
    }

    /// Removes everything, if nothing waits for a verdict or for the user's decision; else everything but that.
    package func clearDelivered() throws(SyncError) {
        let rejected = try rejectedEntries()
        let mustKeep = depth > 0 || !rejected.isEmpty
        try clear(keepingQueue: mustKeep)
        shrink()
    }

    /// Rewrites the file without its free pages. Another process that reads the file may keep it from being done; the
    /// next sealing does it then.
    private func shrink() {
        do {
            try connection.execute("VACUUM")
            try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        } catch {
            return
        }
    }
}
