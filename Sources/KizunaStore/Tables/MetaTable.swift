internal import KizunaCore

/// Names and values that describe the vault itself.
struct MetaTable {
    let connection: SQLiteConnection

    func value(_ name: String) throws(SyncError) -> String? {
        try connection.first("SELECT value FROM meta WHERE name = ?", .text(name)) { (row) throws(SyncError) in
            row.text(0)
        }
    }

    func set(_ name: String, to value: String) throws(SyncError) {
        try connection.run(
            "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            .text(name), .text(value))
    }
}
