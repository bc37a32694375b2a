public import KizunaCore
internal import KizunaPostgREST
internal import Synchronization

/// A server in memory that behaves as PostgREST, for tests of an app's reads and writes.
///
/// ```swift
/// let server = SimulatedServer(simulation, tables: [SimulatedTable("tasks", ownerColumn: "user_id")])
/// try server.insert(#"{"id":"a","title":"one","user_id":"alice"}"#, into: "tasks")
/// transport.serve(server)
/// ```
///
/// It implements filters, order, limit and offset, counts and `Content-Range`, `max-rows`, inserts of one and many
/// rows, upserts, updates, deletes, representations, unique, foreign-key, not-null and check constraints, row level
/// security by an owner column, and expired tokens. Referenced tables in `select`, functions and casts are not
/// implemented; the response is 501. Each request is one transaction at the moment of its arrival.
public final class SimulatedServer: Sendable {
    /// One request and the status of its response.
    public struct Handled: Sendable, Hashable {
        /// The HTTP method.
        public let method: String
        /// The table; empty if the path names none.
        public let table: String
        /// The status of the response.
        public let status: Int
        /// The user of the token.
        public let userID: String?
        /// The virtual time of its arrival.
        public let arrivedAt: Duration
    }

    struct State {
        var tables: [TableName: ServedTable] = [:]
        var maxRows: Int?
        var maxURLLength: Int?
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

    /// Creates a server with these tables, all of them empty.
    public init(_ simulation: Simulation, tables: [SimulatedTable]) {
        self.simulation = simulation
        var state = State()
        for table in tables {
            state.tables[TableName(schema: table.schema, name: table.name)] = ServedTable(table)
        }
        self.state = Mutex(state)
    }

    // MARK: - Settings

    /// The largest number of rows in one response, PostgREST's `max-rows`; nil is no limit.
    public var maxRows: Int? {
        get { state.withLock { $0.maxRows } }
        set { state.withLock { $0.maxRows = newValue } }
    }

    /// The largest length of a request's URL in bytes; a longer one has the response 414. Nil is no limit.
    public var maxURLLength: Int? {
        get { state.withLock { $0.maxURLLength } }
        set { state.withLock { $0.maxURLLength = newValue } }
    }

    /// The virtual time between the arrival of a request and its response.
    public var latency: Duration {
        get { state.withLock { $0.latency } }
        set { state.withLock { $0.latency = newValue } }
    }

    /// While set, this is the response to every request, and no request changes anything.
    public var outage: SimulatedRejection? {
        get { state.withLock { $0.outage } }
        set { state.withLock { $0.outage = newValue } }
    }

    // MARK: - State and history

    /// Returns the JSON texts of the rows of a table, in insertion order.
    public func rows(of table: String, schema: String = "public") -> [String] {
        state.withLock { $0.tables[TableName(schema: schema, name: table)]?.all.map(\.text) ?? [] }
    }

    /// Every request so far, in the order of arrival.
    public var handled: [Handled] { state.withLock { $0.handled } }

    /// Returns the number of requests, of one method and of one table if these are given.
    public func requestCount(_ method: String? = nil, table: String? = nil) -> Int {
        handled.count { (method == nil || $0.method == method) && (table == nil || $0.table == table) }
    }

    /// Every change of a row so far, in order. A write that was applied exactly once is in it exactly once.
    public var mutations: [SimulatedMutation] { state.withLock { $0.mutations } }

    // MARK: - Changes by other clients

    /// Inserts rows as another client would. Constraints are checked, row level security is not.
    ///
    /// - Parameters:
    ///   - json: one JSON object, or an array of them.
    ///   - table: the table's name.
    ///   - schema: the schema of the table.
    /// - Throws: `SimulatedRejection` if a row violates a constraint; then no row is added.
    public func insert(_ json: String, into table: String, schema: String = "public") throws {
        try carryOut(table, schema) { (write) throws(SimulatedRejection) in
            _ = try write.insert(try ServedWrite.rows(of: Array(json.utf8)), columns: nil, upsert: nil)
        }
    }

    /// Updates a row as another client would.
    ///
    /// - Throws: `SimulatedRejection` if the row violates a constraint or does not exist.
    public func update(_ key: String, of table: String, schema: String = "public", to json: String) throws {
        try carryOut(table, schema) { (write) throws(SimulatedRejection) in
            _ = try write.update([try write.row(RowKey(text: key))], patch: ServedWrite.object(Array(json.utf8)))
        }
    }

    /// Deletes a row as another client would.
    ///
    /// - Throws: `SimulatedRejection` if another row refers to it or it does not exist.
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
                state.apply(write)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try outcome.get()
    }

    // MARK: - Requests

    /// Handles a request and returns its response without latency; `ScriptedTransport.serve(_:)` adds the latency.
    public func respond(to request: WireRequest) -> WireResponse {
        state.withLock { state in
            var userID: String?
            var table = ""
            let response: WireResponse
            do throws(SimulatedRejection) {
                if let outage = state.outage { throw outage }
                if let limit = state.maxURLLength, request.url.utf8.count > limit { throw .urlTooLong }
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
        state.apply(write)
        return response
    }
}

extension WireResponse {
    /// Creates an error response with PostgREST's body.
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
    /// Lets a simulated server handle each request that no queued response is for, with the server's latency.
    public func serve(_ server: SimulatedServer) {
        serve { request in
            let response = server.respond(to: request)
            let latency = server.latency
            return latency > .zero ? .after(latency, .respond(response)) : .respond(response)
        }
    }
}
