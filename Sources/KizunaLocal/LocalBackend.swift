internal import Foundation
package import KizunaCore

/// A Supabase-compatible backend on this machine: PostgreSQL, `/rest/v1` and `/auth/v1` on 127.0.0.1.
///
/// ```swift
/// let backend = try await LocalBackend.start(.init(sql: ["CREATE TABLE tasks (id int PRIMARY KEY, title text)"]))
/// let tasks = URL(string: backend.url + "/rest/v1/tasks")
/// await backend.stop()
/// ```
package final class LocalBackend: Sendable {
    /// `http://127.0.0.1:PORT`
    package let url: String
    package let port: Int
    /// A key for the role `anon`.
    package let anonKey: String
    /// A key for the role `service_role`, which no row policy restricts.
    package let serviceRoleKey: String
    /// How `psql` and other tools reach the database as superuser.
    package let connectionString: String
    /// Faults, the network switch and the log of requests.
    package let control: LocalControl

    private let signer: TokenSigner
    private let server: HTTPServer
    private let cluster: LocalCluster
    private let isClusterOwned: Bool
    private let admin: ConnectionPool
    private let guests: ConnectionPool
    private let shapes: SchemaCache

    private init(
        _ settings: LocalSettings, _ cluster: LocalCluster, isClusterOwned: Bool, database: String, port: Int,
        parts: Parts
    ) {
        self.cluster = cluster
        self.isClusterOwned = isClusterOwned
        self.port = port
        url = "http://127.0.0.1:\(port)"
        connectionString = "host=\(cluster.socketFolder) user=postgres dbname=\(database)"
        control = parts.control
        signer = parts.signer
        server = parts.server
        admin = parts.admin
        guests = parts.guests
        shapes = parts.shapes
        anonKey = Self.key(role: "anon", parts.signer)
        serviceRoleKey = Self.key(role: "service_role", parts.signer)
    }

    private struct Parts {
        let control: LocalControl
        let signer: TokenSigner
        let server: HTTPServer
        let admin: ConnectionPool
        let guests: ConnectionPool
        let shapes: SchemaCache
    }

    /// Starts a backend with a cluster of its own, or with a database of its own in a cluster that is given.
    package static func start(
        _ settings: LocalSettings = LocalSettings(), in shared: LocalCluster? = nil
    ) async throws -> LocalBackend {
        let cluster: LocalCluster
        if let shared {
            cluster = shared
        } else {
            cluster = try await LocalCluster.start(dataDirectory: settings.dataDirectory)
        }
        do {
            let database = try await DatabaseSetup.prepare(settings, cluster, isShared: shared != nil)
            let secret = try await DatabaseSetup.secret(settings, cluster, database)
            return try await serve(settings, cluster, isClusterOwned: shared == nil, database, secret: secret)
        } catch {
            if shared == nil { await cluster.stop() }
            throw error
        }
    }

    private static func serve(
        _ settings: LocalSettings, _ cluster: LocalCluster, isClusterOwned: Bool, _ database: String, secret: String
    ) async throws -> LocalBackend {
        func address(_ user: String) -> DatabaseAddress {
            DatabaseAddress(socketFolder: cluster.socketFolder, user: user, database: database)
        }
        let admin = ConnectionPool(address("postgres"), size: 2)
        let signer = TokenSigner(secret: secret)
        let control = LocalControl()
        let shapes = SchemaCache(schemas: settings.schemas)
        let guests = ConnectionPool(address("authenticator"), size: 4) { connection throws(PostgresFailure) in
            try connection.run(script: "LISTEN pgrst")
            // What was notified before this connection listened is unknown to it.
            shapes.invalidate()
        }
        let auth = AuthPart(settings: settings, signer: signer, pool: admin)
        let rest = RestPart(settings: settings, signer: signer, pool: guests, shapes: shapes)
        let loop = ServerLoop()
        let router = LocalRouter(control: control, parts: [("/rest/v1", rest), ("/auth/v1", auth)], loop: loop)
        let server = HTTPServer(loop: loop, handler: router, bodyLimit: settings.bodyLimit)
        do {
            try await admin.perform { connection throws(PostgresFailure) in _ = try shapes.reload(connection) }
            let port = try await server.start(port: settings.port)
            auth.setIssuer("http://127.0.0.1:\(port)/auth/v1")
            return LocalBackend(
                settings, cluster, isClusterOwned: isClusterOwned, database: database, port: port,
                parts: Parts(
                    control: control, signer: signer, server: server, admin: admin, guests: guests, shapes: shapes))
        } catch {
            await admin.close()
            await guests.close()
            throw error
        }
    }

    /// Stops the server and, where it is the backend's own, the cluster.
    package func stop() async {
        control.stop()
        await server.stop()
        // A statement that still runs ends with its server; with a shared cluster it is waited for.
        if isClusterOwned { await cluster.stop() }
        await admin.close()
        await guests.close()
    }

    // MARK: - SQL for tests

    /// Runs SQL statements as superuser.
    package func execute(_ sql: String) async throws {
        try await admin.perform { [shapes] connection throws(PostgresFailure) in
            try connection.run(script: sql)
            shapes.invalidate()
        }
    }

    /// Runs one SQL statement as superuser and gives its rows as column name to text; a null is absent.
    package func query(_ sql: String, _ parameters: [String?] = []) async throws -> [[String: String]] {
        try await admin.perform { connection throws(PostgresFailure) in
            let rows = try connection.query(sql, parameters)
            let names = rows.columns
            return (0..<rows.count).map { row in
                var values: [String: String] = [:]
                for (column, name) in names.enumerated() { values[name] = rows.text(row, column) }
                return values
            }
        }
    }

    // MARK: - Tokens

    /// An access token, for any subject and role; a negative time makes one that has expired.
    package func token(
        subject: String?, role: String = "authenticated", expiresIn: Duration = .seconds(3600)
    ) -> String {
        let now = WallClock.seconds
        var claims = [
            RawJSON.Member(name: "role", value: .string(role)),
            RawJSON.Member(name: "aud", value: .string("authenticated")),
            RawJSON.Member(name: "iat", value: .number(now)),
            RawJSON.Member(name: "exp", value: .number(now + Int(expiresIn.components.seconds))),
        ]
        if let subject { claims.insert(RawJSON.Member(name: "sub", value: .string(subject)), at: 0) }
        return signer.token(claims)
    }

    /// A token of any claims.
    package func token(claims: RawJSON) -> String { signer.token((try? claims.objectMembers()) ?? []) }

    /// The time that tokens are judged by, in seconds since 1970.
    package static var now: Int { WallClock.seconds }

    private static func key(role: String, _ signer: TokenSigner) -> String {
        let now = WallClock.seconds
        return signer.token([
            RawJSON.Member(name: "iss", value: .string("kizuna")),
            RawJSON.Member(name: "role", value: .string(role)),
            RawJSON.Member(name: "iat", value: .number(now)),
            RawJSON.Member(name: "exp", value: .number(now + 10 * 365 * 86_400)),
        ])
    }
}
