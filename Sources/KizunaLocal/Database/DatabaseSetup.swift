internal import Foundation
internal import Synchronization

/// Makes a database ready for a backend: the database itself, Supabase's objects, then the owner's SQL.
enum DatabaseSetup {
    private static let counter = Atomic(1)

    /// Returns the name of the database.
    static func prepare(_ settings: LocalSettings, _ cluster: LocalCluster, isShared: Bool) async throws -> String {
        let files = try settings.sqlFiles.map { (path: $0, text: try text(of: $0)) }
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
        }
        for file in files { try await apply(file.path, file.text, cluster, name) }
        try await onConnection(cluster, name) { connection throws(PostgresFailure) in
            for text in settings.sql { try apply(text, connection) }
            try checkSchemas(settings.schemas, connection)
        }
        return name
    }

    /// Returns the secret that signs the tokens of this database; a random one is made on the first start.
    static func secret(
        _ settings: LocalSettings, _ cluster: LocalCluster, _ database: String
    ) async throws -> String {
        if let secret = settings.jwtSecret { return secret }
        return try await onConnection(cluster, database) { connection throws(PostgresFailure) in
            try connection.run(
                script: """
                    CREATE TABLE IF NOT EXISTS kizuna.secret (value text NOT NULL);
                    INSERT INTO kizuna.secret SELECT encode(extensions.gen_random_bytes(32), 'hex')
                    WHERE NOT EXISTS (SELECT FROM kizuna.secret);
                    """)
            return try connection.query("SELECT value FROM kizuna.secret").text(0, 0) ?? ""
        }
    }

    /// A schema that does not exist would only show as a missing table at the first request.
    private static func checkSchemas(_ names: [String], _ connection: PostgresConnection) throws(PostgresFailure) {
        for name in names
        where try connection.query("SELECT FROM pg_namespace WHERE nspname = $1", [name]).count == 0 {
            throw PostgresFailure(sqlState: "3F000", message: "schema \"\(name)\" does not exist")
        }
    }

    /// Runs a text that this database has not seen yet: kept data is opened again with the same files.
    private static func apply(_ text: String, _ connection: PostgresConnection) throws(PostgresFailure) {
        guard try connection.query("SELECT FROM kizuna.applied WHERE digest = md5($1)", [text]).count == 0 else {
            return
        }
        try connection.run(script: text)
        try connection.query("INSERT INTO kizuna.applied VALUES (md5($1))", [text])
    }

    /// Runs a file that this database has not seen yet.
    ///
    /// `psql` runs it statement by statement, so that files with `COPY … FROM stdin`, backslash commands or
    /// `CREATE INDEX CONCURRENTLY` load, and names the file and the line of an error.
    private static func apply(
        _ path: String, _ text: String, _ cluster: LocalCluster, _ database: String
    ) async throws {
        let isApplied = try await onConnection(cluster, database) { connection throws(PostgresFailure) in
            try connection.query("SELECT FROM kizuna.applied WHERE digest = md5($1)", [text]).count == 1
        }
        guard !isApplied else { return }
        try await cluster.runFile(path, database: database)
        try await onConnection(cluster, database) { connection throws(PostgresFailure) in
            try connection.query("INSERT INTO kizuna.applied VALUES (md5($1))", [text])
            return
        }
    }

    private static func creation(of name: String, _ icuLocale: String?) -> String {
        guard let icuLocale else { return "CREATE DATABASE \(name) TEMPLATE template0" }
        let locale = icuLocale.replacing("'", with: "''")
        return "CREATE DATABASE \(name) TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE '\(locale)'"
    }

    private static func onConnection<Value: Sendable>(
        _ cluster: LocalCluster, _ database: String,
        _ body: @escaping @Sendable (PostgresConnection) throws(PostgresFailure) -> Value
    ) async throws -> Value {
        let pool = ConnectionPool(
            DatabaseAddress(socketFolder: cluster.socketFolder, user: "postgres", database: database), size: 1)
        do {
            let value = try await pool.perform(body)
            await pool.close()
            return value
        } catch {
            await pool.close()
            throw error
        }
    }

    private static func text(of file: String) throws(LocalError) -> String {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { throw .unreadableFile(path: file) }
        return text
    }
}
