internal import Foundation
internal import Synchronization

/// Makes a database ready for a backend: the database itself, Supabase's objects, then the owner's SQL.
enum DatabaseSetup {
    private static let counter = Atomic(1)

    /// Returns the name of the database.
    static func prepare(_ settings: LocalSettings, _ cluster: LocalCluster, isShared: Bool) async throws -> String {
        let texts = try settings.sqlFiles.map { try text(of: $0) } + settings.sql
        // In a cluster of its own a backend uses the database that is there, unless it wants another collation.
        var database = "postgres"
        if isShared {
            database = "kizuna_\(counter.wrappingAdd(1, ordering: .relaxed).oldValue)"
        } else if settings.icuLocale != nil {
            database = "kizuna_icu"
        }
        let name = database
        try await onConnection(cluster, "postgres") { connection throws(PostgresFailure) in
            try connection.run(script: Bootstrap.roles)
            guard name != "postgres" else { return }
            let isThere = try connection.query("SELECT FROM pg_database WHERE datname = $1", [name]).count == 1
            if !isThere { try connection.run(script: creation(of: name, settings.icuLocale)) }
        }
        try await onConnection(cluster, name) { connection throws(PostgresFailure) in
            if try connection.query(Bootstrap.isPrepared).text(0, 0) != "t" {
                try connection.run(script: Bootstrap.database)
            }
            for text in texts { try apply(text, connection) }
        }
        return name
    }

    /// Runs a text that this database has not seen yet: kept data is opened again with the same files.
    private static func apply(_ text: String, _ connection: PostgresConnection) throws(PostgresFailure) {
        guard try connection.query("SELECT FROM kizuna.applied WHERE digest = md5($1)", [text]).count == 0 else {
            return
        }
        try connection.run(script: text)
        try connection.query("INSERT INTO kizuna.applied VALUES (md5($1))", [text])
    }

    private static func creation(of name: String, _ icuLocale: String?) -> String {
        guard let icuLocale else { return "CREATE DATABASE \(name) TEMPLATE template0" }
        let locale = icuLocale.replacing("'", with: "''")
        return "CREATE DATABASE \(name) TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE '\(locale)'"
    }

    private static func onConnection(
        _ cluster: LocalCluster, _ database: String,
        _ body: @escaping @Sendable (PostgresConnection) throws(PostgresFailure) -> Void
    ) async throws {
        let pool = ConnectionPool(
            DatabaseAddress(socketFolder: cluster.socketFolder, user: "postgres", database: database), size: 1)
        do {
            try await pool.perform(body)
        } catch {
            await pool.close()
            throw error
        }
        await pool.close()
    }

    private static func text(of file: String) throws(LocalError) -> String {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { throw .unreadableFile(path: file) }
        return text
    }
}
