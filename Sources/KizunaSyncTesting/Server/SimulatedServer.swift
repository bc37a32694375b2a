public import KizunaCore
internal import KizunaPostgREST
internal import Synchronization

/// A server in memory that answers as PostgREST does, for tests of an app's own reads and writes.
///
/// ```swift
/// let server = SimulatedServer(simulation, tables: [SimulatedTable("tasks", ownerColumn: "user_id")])
/// try server.insert(#"{"id":"a","title":"one","user_id":"alice"}"#, into: "tasks")
/// transport.serve(server)
/// ```
///
/// It knows filters, order, limit and offset, counts and `Content-Range`, the row cap, inserts of one and many,
/// upserts, updates, deletes, representations, unique, foreign-key, not-null and check constraints, row level security
/// by an owner column, and expired tokens. It does not know referenced tables in `select`, functions or casts; asked
/// for one it answers 501. Each request is carried out whole or not at all, at the moment it arrives.
public final class SimulatedServer: Sendable {
    /// One request and the status it was answered with.
    public struct Handled: Sendable, Hashable {
        /// The HTTP method.
        public let method: String
        /// The table; empty where the path named none.
        public let table: String
        /// The status of the answer.
        public let status: Int
        /// The user the token named.
        public let userID: String?
        /// The virtual time at which it arrived.
        public let arrivedAt: Duration
    }

    struct State {
        var tables: [TableName: ServedTable] = [:]
        var maxRows: Int?
        var latency: Duration = .zero
        var outage: SimulatedRejection?
        var handled: [Handled] = []
        var mutations: [SimulatedMutation] = []
    }

    struct TableName: Hashable {
        var schema: String
        var name: String
    }

    private let simulation: Simulation
    private let state: Mutex<State>

    /// Makes a server with these tables, all of them empty.
    public init(_ simulation: Simulation, tables: [SimulatedTable]) {
        self.simulation = simulation
        var state = State()
        for table in tables {
            state.tables[TableName(schema: table.schema, name: table.name)] = ServedTable(table)
        }
        self.state = Mutex(state)
    }

    // MARK: - Settings

    /// The most rows of one answer, as the project's setting of that name; nil is no cap.
    public var maxRows: Int? {
        get { state.withLock { $0.maxRows } }
        set { state.withLock { $0.maxRows = newValue } }
    }

    /// The virtual time between a request's arrival and its answer.
    public var latency: Duration {
        get { state.withLock { $0.latency } }
        set { state.withLock { $0.latency = newValue } }
    }

    /// While set, every request is answered with this and changes nothing.
    public var outage: SimulatedRejection? {
        get { state.withLock { $0.outage } }
        set { state.withLock { $0.outage = newValue } }
    }

    // MARK: - What is there, and what happened

    /// The JSON texts of a table's rows, in the order of their insertion.
    public func rows(of table: String, schema: String = "public") -> [String] {
        state.withLock { $0.tables[TableName(schema: schema, name: table)]?.all.map(\.text) ?? [] }
    }

    /// Every request so far, in the order of arrival.
    public var handled: [Handled] { state.withLock { $0.handled } }

    /// How many requests came, of a method and of a table where they are given.
    public func requestCount(_ method: String? = nil, table: String? = nil) -> Int {
        handled.count { (method == nil || $0.method == method) && (table == nil || $0.table == table) }
    }

    /// Every change of a row so far, in order. A write that reached the server exactly once is in it exactly once.
    public var mutations: [SimulatedMutation] { state.withLock { $0.mutations } }

    // MARK: - Changes made elsewhere

    /// Adds rows as another client would; constraints hold, row level security does not.
    ///
    /// - Parameters:
    ///   - json: one JSON object, or an array of them.
    ///   - table: the table's name.
    ///   - schema: the schema it is in.
    /// - Throws: `SimulatedRejection` where a constraint speaks against it; nothing is added then.
    public func insert(_ json: String, into table: String, schema: String = "public") throws {
        try carryOut(table, schema) { (write) throws(SimulatedRejection) in
            _ = try write.insert(try ServedWrite.rows(of: Array(json.utf8)), columns: nil, upsert: nil)
        }
    }

    /// Changes a row as another client would.
    ///
    /// - Throws: `SimulatedRejection` where a constraint speaks against it, or there is no such row.
    public func update(_ key: String, of table: String, schema: String = "public", to json: String) throws {
        try carryOut(table, schema) { (write) throws(SimulatedRejection) in
            _ = try write.update([try write.row(RowKey(text: key))], patch: ServedWrite.object(Array(json.utf8)))
        }
    }

    /// Removes a row as another client would.
    ///
    /// - Throws: `SimulatedRejection` where another row refers to it, or there is no such row.
    public func delete(_ key: String, of table: String, schema: String = "public") throws {
        try carryOut(table, schema) { (write) throws(SimulatedRejection) in
            try write.delete([try write.row(RowKey(text: key))])
        }
    }

    private func carryOut(
        _ table: String, _ schema: String, _ body: (inout ServedWrite) throws(SimulatedRejection) -> Void
    ) throws(SimulatedRejection) {
        let outcome = state.withLock { state -> Result<Void, SimulatedRejection> in
            do throws(SimulatedRejection) {
                var write = try ServedWrite(
                    state, TableName(schema: schema, name: table), userID: nil, isPolicyOff: true,
                    at: simulation.elapsed)
                try body(&write)
                state.take(write)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try outcome.get()
    }

    // MARK: - Requests

    /// Answers a request at once; `ScriptedTransport.serve(_:)` adds the latency.
    public func respond(to request: WireRequest) -> WireResponse {
        state.withLock { state in
            var userID: String?
            var table = ""
            let response: WireResponse
            do throws(SimulatedRejection) {
                if let outage = state.outage { throw outage }
                let served = try ServedRequest(request)
                table = served.table
                userID = try self.userID(of: served)
                response = try self.response(served, userID, &state)
            } catch {
                response = WireResponse(error)
            }
            state.handled.append(
                Handled(
                    method: request.method, table: table, status: response.status, userID: userID,
                    arrivedAt: simulation.elapsed))
            return response
        }
    }

    private func userID(of request: ServedRequest) throws(SimulatedRejection) -> String? {
        guard let bearer = request.bearer, let claims = TestToken.claims(of: bearer) else { return nil }
        if let expiresAt = claims.expiresAt, expiresAt <= simulation.wallClock {
            throw SimulatedRejection(401, code: "PGRST303", message: "JWT expired")
        }
        return claims.userID
    }

    private func response(
        _ request: ServedRequest, _ userID: String?, _ state: inout State
    ) throws(SimulatedRejection) -> WireResponse {
        let name = TableName(schema: request.schema, name: request.table)
        guard var table = state.tables[name] else {
            throw SimulatedRejection(
                404, code: "PGRST205",
                message: "Could not find the table '\(request.schema).\(request.table)' in the schema cache")
        }
        if request.method == "GET" || request.method == "HEAD" {
            let read = ServedRead(request: request, userID: userID, maxRows: state.maxRows)
            let response = try read.response(from: &table)
            state.tables[name] = table
            return response
        }
        var write = try ServedWrite(state, name, userID: userID, isPolicyOff: false, at: simulation.elapsed)
        let response = try write.response(to: request)
        state.take(write)
        return response
    }
}

extension WireResponse {
    /// An error answer with PostgREST's body.
    init(_ rejection: SimulatedRejection) {
        let members = [
            ("code", rejection.code), ("message", rejection.message), ("details", rejection.details), ("hint", nil),
        ].map { RawJSON.Member(name: $0.0, value: $0.1.map { RawJSON(string: $0) } ?? .null) }
        var headers = ["content-type": "application/json; charset=utf-8"]
        if let seconds = rejection.retryAfter { headers["retry-after"] = "\(seconds)" }
        self.init(status: rejection.status, headers: headers, body: RawJSON(members: members).bytes)
    }
}

extension ScriptedTransport {
    /// Lets a simulated server answer what no queued answer does, after the server's own latency.
    public func serve(_ server: SimulatedServer) {
        serve { request in
            let response = server.respond(to: request)
            let latency = server.latency
            return latency > .zero ? .after(latency, .respond(response)) : .respond(response)
        }
    }
}
