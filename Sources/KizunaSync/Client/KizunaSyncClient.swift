package import KizunaCore
internal import KizunaPostgREST
internal import KizunaStore
internal import Synchronization

/// The client: reads that answer from the device, writes that wait for the server, one store per user.
///
/// ```swift
/// let client = KizunaSyncClient()
/// try await client.create(.init(url: projectURL, publishableKey: key, dataDirectory: folder))
/// let receipt = try await client.from("tasks").insert(NewTask(title: "works on a plane"))
/// ```
///
/// One client per store and process; several processes, such as an app and its extension, may have the same store open.
/// It can be used from any task. Call `create(_:)` first and `close()` last.
public final class KizunaSyncClient: Sendable {
    private struct State {
        var engine: Engine?
        var isClosed = false
        /// Counts the calls that make or end an engine; the last one counts.
        var calls = 0
    }

    private let state = Mutex(State())
    private let dependencies: Engine.Dependencies

    /// Makes a client that does nothing until `create(_:)`.
    public init() { dependencies = Engine.Dependencies() }

    /// Makes a client whose outside world is replaced, for tests.
    package init(dependencies: Engine.Dependencies) { self.dependencies = dependencies }

    /// Opens the store and starts to deliver what waits in it. Nothing is sent before the session has settled.
    ///
    /// A second call replaces the engine: what ran on the former one completes.
    ///
    /// - Throws: `SyncError` with code `invalidConfiguration`, `unwritableDirectory`, `storeTooNew` (the file is left as
    ///   it is), `storage`, or `closed` when another `create(_:)` or a `close()` came before this one was done. A damaged
    ///   file is moved aside and kept, and a new one is started.
    public func create(_ configuration: KizunaSyncConfiguration) async throws {
        let (previous, call) = state.withLock { state in
            defer { state.engine = nil }
            state.calls += 1
            return (state.engine, state.calls)
        }
        await previous?.close(isReplaced: true)
        // Whoever hears of it may subscribe to the next engine at once.
        defer { previous?.events.end(.engineReplaced) }
        let engine = try Engine(configuration, dependencies: dependencies)
        await engine.ownerControl.sessionBegan()
        let isLast = state.withLock { state in
            guard state.calls == call else { return false }
            state.engine = engine
            state.isClosed = false
            return true
        }
        guard isLast else {
            await engine.close()
            throw SyncError(.closed, "Another create(_:), or a close(), came before this one was done.")
        }
    }

    /// A table or view of schema `public`, to read from and write to.
    public func from(_ table: String) -> OfflineTable { OfflineTable(client: self, schema: "public", table: table) }

    /// A table or view of another exposed schema.
    public func from(_ table: String, schema: String) -> OfflineTable {
        OfflineTable(client: self, schema: schema, table: table)
    }

    /// Hands over the signed-in user's access token; call it at each sign-in and each refresh of the session. A token of
    /// another user changes to that user's store, and live reads go on with that user's rows alone.
    ///
    /// The token is kept in memory and never written to disk.
    ///
    /// - Throws: `SyncError` with code `invalidConfiguration` when the text is no JSON Web Token with a subject, or the
    ///   configuration has a session source; `engineUnavailable` before `create(_:)`.
    public func setAccessToken(_ token: String) async throws {
        let claims = try AccessToken(token)
        try engine().ownerControl.take(.signedIn(userID: claims.userID, accessToken: claims.text))
    }

    /// Allows requests again and tries at once whatever waits.
    public func enableNetwork() async throws { try engine().enableNetwork() }

    /// Sends nothing from now on; requests that are out already get their answer. Not kept over a restart.
    public func disableNetwork() async throws { try engine().connectivity.setEnabled(false) }

    /// Removes what the signed-in user's store holds: cached rows, and unsent and refused writes too unless they are kept.
    ///
    /// Live reads drop their rows at once and ask the server anew. An answer to a request that went out before is not
    /// stored. Offline: the same; the rows come back when the server can be asked. The store is cleared for every process that
    /// has it open.
    ///
    /// - Throws: `SyncError` with code `engineUnavailable`, `closed`, or `storage` when the store cannot be written;
    ///   nothing is removed then.
    public func clearLocalData(keepingQueue: Bool = false) async throws {
        try await engine().ownerControl.clearLocalData(keepingQueue: keepingQueue)
    }

    /// The writes of a table that wait for the server's verdict: the present ones first, then each change.
    ///
    /// A slow reader gets the newest list. Ends when the client closes; throws when the store cannot be read.
    public func pendingMutations(
        table: String, schema: String = "public"
    ) -> KizunaStateSequence<[PendingMutation]> {
        KizunaStateSequence { [self] in
            let engine = try engine()
            let written = TableID(schema: schema, name: table)
            let feed = PendingFeed(
                table: written, keyColumns: engine.context.schemas[written].keyColumns,
                environment: engine.context.environment)
            return (feed.channel, try engine.follow(feed))
        }
    }

    /// The writes the server refused for good, until the app has dealt with them: the present ones, then each change.
    public var rejectedMutations: KizunaStateSequence<[RejectedMutation]> {
        KizunaStateSequence { [self] in
            let engine = try engine()
            let feed = RejectionFeed(environment: engine.context.environment)
            return (feed.channel, try engine.follow(feed))
        }
    }

    /// Ends live reads and waits, and closes the store. Unsent writes stay in it. Calling it again does nothing.
    ///
    /// One-shot reads that are under way get their answer when it comes within 5 s; then those whose strategy allows it are
    /// answered by what is stored, and the others throw `closed` (docs/spec/reads.md, Closing).
    public func close() async {
        let engine = state.withLock { state in
            defer { state = State(engine: nil, isClosed: true, calls: state.calls + 1) }
            return state.engine
        }
        await engine?.close()
    }

    /// The outside world this client was made with; a scheduler of it runs by the same clock.
    package var environment: SyncEnvironment { dependencies.environment ?? .live() }

    /// The running engine.
    package func engine() throws(SyncError) -> Engine {
        let (engine, isClosed) = state.withLock { ($0.engine, $0.isClosed) }
        if let engine { return engine }
        if isClosed { throw SyncError(.closed, "The client is closed.") }
        throw SyncError(.engineUnavailable, "Call create(_:) before using the client.")
    }
}
