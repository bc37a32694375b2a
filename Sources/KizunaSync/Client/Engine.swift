internal import Foundation
package import KizunaCore
package import KizunaPostgREST
package import KizunaStore
internal import KizunaTransport
internal import Synchronization

/// Everything behind one `create(_:)`: owners, reads, queue and network, wired together.
///
/// It passes news on and decides nothing. Its state is who is to be told; the order of news of one vault is the vault's
/// commit order, since they are passed on from the vault's own executor.
package final class Engine: ReadContext {
    /// What a test replaces; nil is the real thing.
    package struct Seams: Sendable {
        package var environment: SyncEnvironment?
        package var transport: (any WireTransport)?
        /// Keeps vaults in memory.
        package var isInMemory = false
        /// Called in the last moment before each commit.
        package var willCommit: (@Sendable () -> Void)?

        package init() {}
    }

    private struct State {
        var reads: [ObjectIdentifier: LiveReadRunner] = [:]
        var shared: [String: LiveReadRunner] = [:]
        var queue: QueueRunner?
        var feeds: [Int: PendingFeed] = [:]
        var refusalFeeds: [Int: RefusalFeed] = [:]
        var lastFeed = 0
        /// Those who wait for the session to settle.
        var settleGates: [Int: Gate] = [:]
        var isClosed = false
    }

    package let configuration: KizunaSyncConfiguration
    package let environment: SyncEnvironment
    package let gateway: Gateway
    package let ticks = TickSource()
    package let connectivity: Connectivity
    package let board = VerdictBoard()
    private let facts: [TableID: TableFacts]
    private let state = Mutex(State())
    private let ownerBox = Mutex<OwnerRunner?>(nil)
    private let tokenSession: TokenSession?
    private let credentialsTeller = Teller()

    /// Opens the store and starts the engine.
    package init(_ configuration: KizunaSyncConfiguration, seams: Seams) throws(SyncError) {
        self.configuration = configuration
        let environment = seams.environment ?? .live(log: configuration.log)
        self.environment = environment
        let base = try Self.base(of: configuration.url)
        gateway = Gateway(
            base: base, publishableKey: configuration.publishableKey,
            transport: seams.transport ?? PlatformTransport.http(), environment: environment,
            timeout: configuration.requestTimeout)
        connectivity = Connectivity(monitor: configuration.networkAvailability)
        facts = Self.facts(configuration)
        let directory = VaultDirectory(
            dataDirectory: seams.isInMemory ? nil : configuration.dataDirectory.path, projectURL: base)
        let lastOwner = directory.lastOwner(now: environment.wallClock())
        let tokenSession = configuration.session == nil ? TokenSession(hasLastOwner: lastOwner != .nobody) : nil
        self.tokenSession = tokenSession
        guard let session = configuration.session ?? tokenSession else {
            preconditionFailure("Engine: neither a session source nor a token session")
        }
        let weakSelf = WeakEngine()
        let owners = try OwnerRunner(
            lastOwner: lastOwner, session: session, environment: environment,
            openVault: { [ticks] (owner, generation) throws(SyncError) in
                let vault = try Vault(
                    file: directory.file(of: owner), owner: owner.text, ticks: ticks, now: environment.wallClock(),
                    executor: environment.storeExecutor, willCommit: seams.willCommit
                ) { change in weakSelf.engine?.vaultChanged(change, generation: generation) }
                if vault.movedAside != nil {
                    environment.log.log(LogLine(.error, "A damaged store was moved aside; a new one was started"))
                }
                return vault
            },
            remember: { owner in
                do {
                    try directory.remember(owner)
                } catch {
                    environment.log.log(LogLine(.warning, "The last owner could not be noted for the next start"))
                }
            },
            notify: { weakSelf.engine?.ownerNotice($0) })
        ownerBox.withLock { $0 = owners }
        weakSelf.set(self)
        connectivity.start { [weak self] network in self?.networkChanged(network) }
        owners.start()
    }

    private static func base(of url: URL) throws(SyncError) -> String {
        guard let scheme = url.scheme?.lowercased(), scheme == "https" || scheme == "http", let host = url.host(),
            !host.isEmpty, url.query() == nil, url.fragment() == nil
        else {
            throw SyncError(
                .invalidConfiguration,
                "The project's URL must be an http or https URL of a host, such as https://abc.supabase.co.")
        }
        var text = url.absoluteString
        while text.hasSuffix("/") { text.removeLast() }
        return text
    }

    private static func facts(_ configuration: KizunaSyncConfiguration) -> [TableID: TableFacts] {
        var facts: [TableID: TableFacts] = [:]
        for table in configuration.tables {
            facts[TableID(schema: table.schema, name: table.name)] = TableFacts(
                keyColumns: table.primaryKey,
                types: TableTypes(columns: table.columns, patternEvaluation: configuration.patternEvaluation),
                mintsKeys: table.mintsKeys,
                references: table.references.mapValues { TableID(schema: table.schema, name: $0) },
                completeness: table.completeness ?? configuration.completeness)
        }
        return facts
    }

    // MARK: - What reads and the queue ask

    package func tables(_ table: TableID) -> TableFacts {
        facts[table]
            ?? TableFacts(
                types: TableTypes(patternEvaluation: configuration.patternEvaluation),
                completeness: configuration.completeness)
    }
    package var trust: ResponseTrust { configuration.responseTrust }
    package func credentials(generation: Int) -> OwnerMachine.Credentials {
        owners?.credentials(generation: generation) ?? .unsettled
    }
    package func tokenRejected(_ token: String) { owners?.tokenRejected(token) }

    private var owners: OwnerRunner? { ownerBox.withLock { $0 } }
    package var isSessionSettled: Bool { owners?.credentials.isSettled ?? false }
    package var isClosed: Bool { state.withLock { $0.isClosed } }
    /// Whether one owner's store is closed and the next one's is not open yet.
    package var isOwnerChanging: Bool { !isClosed && owners?.handle == nil }
    /// The cache keys of live reads that are iterated.
    package var iteratedKeys: Set<String> { Set(state.withLock { $0.reads.values.map(\.cacheKey) }) }

    /// The open vault; throws while none is open.
    package func handle() throws(SyncError) -> VaultHandle {
        guard !state.withLock({ $0.isClosed }) else { throw SyncError(.closed, "The client is closed.") }
        guard let handle = owners?.handle else {
            throw SyncError(.storage, "The owner is changing and no store is open at this moment; try again.")
        }
        return handle
    }

    // MARK: - The app's hand

    package func take(_ session: SessionState) throws(SyncError) {
        guard let tokenSession else {
            throw SyncError(
                .invalidConfiguration,
                "The configuration has a session source, so tokens come from there and not from setAccessToken.")
        }
        tokenSession.set(session)
        owners?.take(session)
    }

    /// Tries at once whatever waits, in the queue and in live reads.
    package func hurry() {
        let (reads, queue, _, _) = listeners
        queue?.hurry()
        for read in reads { read.hurry() }
    }

    /// Allows requests again; a call cuts waits short even where they were allowed already.
    package func enableNetwork() {
        let wasEnabled = connectivity.network.isEnabled
        connectivity.setEnabled(true)
        if wasEnabled { hurry() }
    }

    package func close() async {
        let ((reads, queue, feeds, refusals), gates) = state.withLock { state in
            defer { state = State(isClosed: true) }
            return (Self.listeners(state), Array(state.settleGates.values))
        }
        connectivity.stop()
        for gate in gates { gate.open() }
        queue?.end()
        for read in reads { read.end() }
        for feed in feeds { feed.end() }
        for feed in refusals { feed.end() }
        board.end(SyncError(.closed, "The client was closed before the server gave a verdict."), isFinal: true)
        await owners?.close()
    }
}

// MARK: - News

extension Engine {
    private func vaultChanged(_ change: VaultChange, generation: Int) {
        let (reads, queue, feeds, refusals) = listeners
        for read in reads { read.vaultChanged(change, generation: generation) }
        guard owners?.handle?.generation == generation else { return }
        queue?.vaultChanged(change)
        for feed in feeds { feed.vaultChanged(change) }
        for feed in refusals { feed.vaultChanged(change) }
    }

    private func networkChanged(_ network: NetworkState) {
        let (reads, queue, _, _) = listeners
        for read in reads { read.networkChanged(network) }
        queue?.networkChanged(network)
    }

    private func ownerNotice(_ notice: OwnerRunner.Notice) {
        let (reads, queue, feeds, refusals) = listeners
        switch notice {
        case .ownerChanging:
            state.withLock { $0.queue = nil }
            queue?.end()
            board.end(
                SyncError(.discarded, "Another user signed in; the write waits in its own user's store."),
                isFinal: false)
            for read in reads { read.ownerChanged() }
        case .vaultOpened(let handle):
            let runner = QueueRunner(
                handle: handle, context: self, board: board, network: connectivity.network,
                isSessionReady: isSessionSettled)
            state.withLock { $0.queue = runner }
            runner.start()
            for read in reads { read.vaultOpened(handle) }
            for feed in feeds { feed.vaultOpened(handle, in: environment) }
            for feed in refusals { feed.vaultOpened(handle, in: environment) }
        case .vaultFailed(let error):
            environment.log.log(
                LogLine(.error, "The owner's store could not be opened", ["kizuna.error": error.code.rawValue]))
            for read in reads { read.end(.failure(error)) }
        case .credentials:
            credentialsTeller.tell {
                let isSettled = isSessionSettled
                let (reads, queue, _, _) = listeners
                if isSettled { openSettleGates() }
                for read in reads { read.sessionChanged(isSettled: isSettled) }
                queue?.sessionChanged(isReady: isSettled)
            }
        }
    }

    private func openSettleGates() {
        let gates = state.withLock { state in
            defer { state.settleGates = [:] }
            return state.settleGates.values.map { $0 }
        }
        for gate in gates { gate.open() }
    }

    /// Waits until the session has settled, at most so long; says whether it has.
    package func settled(within limit: Duration) async throws -> Bool {
        let gate = Gate()
        let id = try add { $0.settleGates[$1] = gate }
        defer { removeFeed(id) }
        guard !isSessionSettled else { return true }
        let timer = environment.clock.schedule(after: limit) { gate.open() }
        defer { timer.cancel() }
        await withTaskCancellationHandler {
            await gate.wait()
        } onCancel: {
            gate.open()
        }
        try Task.checkCancellation()
        return isSessionSettled
    }

    private typealias Listeners = ([LiveReadRunner], QueueRunner?, [PendingFeed], [RefusalFeed])

    private var listeners: Listeners { state.withLock { Self.listeners($0) } }

    private static func listeners(_ state: State) -> Listeners {
        (Array(state.reads.values), state.queue, Array(state.feeds.values), Array(state.refusalFeeds.values))
    }
}

// MARK: - Reads and feeds in progress

extension Engine {
    /// Joins the live read of a request, or starts it. Reads that show the cache first share one per request.
    package func joinRead(
        _ request: TableRequest, strategy: SequenceReadStrategy
    ) throws(SyncError) -> (read: LiveReadRunner, id: Int, mailbox: LatestMailbox<RawSnapshot>) {
        let isShared = strategy == .cacheFirstThenNetwork
        let fresh = LiveReadRunner(
            request: request, strategy: strategy, context: self, network: connectivity.network,
            isSessionSettled: isSessionSettled)
        let joined = state.withLock { state -> (LiveReadRunner, Int, LatestMailbox<RawSnapshot>)? in
            guard !state.isClosed else { return nil }
            if isShared, let read = state.shared[request.cacheKey], let joined = read.join() {
                return (read, joined.id, joined.mailbox)
            }
            guard let joined = fresh.join() else { return nil }
            state.reads[ObjectIdentifier(fresh)] = fresh
            if isShared { state.shared[request.cacheKey] = fresh }
            return (fresh, joined.id, joined.mailbox)
        }
        guard let joined else { throw SyncError(.closed, "The client is closed.") }
        if joined.0 === fresh {
            // News that came between the look at it and the entry in the list was told to nobody.
            fresh.networkChanged(connectivity.network)
            fresh.sessionChanged(isSettled: isSessionSettled)
            if let handle = owners?.handle { fresh.vaultOpened(handle) }
        }
        return joined
    }

    /// Takes a collector out; the last one ends the read.
    package func leaveRead(_ read: LiveReadRunner, id: Int) {
        let isLast = state.withLock { state in
            guard read.leave(id) else { return false }
            state.reads[ObjectIdentifier(read)] = nil
            if state.shared[read.cacheKey] === read { state.shared[read.cacheKey] = nil }
            return true
        }
        if isLast { read.end() }
    }

    package func addFeed(_ feed: PendingFeed) throws(SyncError) -> Int {
        try add { $0.feeds[$1] = feed }
    }

    package func addFeed(_ feed: RefusalFeed) throws(SyncError) -> Int {
        try add { $0.refusalFeeds[$1] = feed }
    }

    private func add(_ insert: (inout State, Int) -> Void) throws(SyncError) -> Int {
        let id = state.withLock { state -> Int? in
            guard !state.isClosed else { return nil }
            state.lastFeed += 1
            insert(&state, state.lastFeed)
            return state.lastFeed
        }
        guard let id else { throw SyncError(.closed, "The client is closed.") }
        return id
    }

    package func removeFeed(_ id: Int) {
        state.withLock { state in
            state.feeds[id] = nil
            state.refusalFeeds[id] = nil
            state.settleGates[id] = nil
        }
    }
}

/// Breaks the cycle between the engine and what it is told by while it is being made.
private final class WeakEngine: Sendable {
    private struct Box { weak var engine: Engine? }
    private let box = Mutex(Box())

    func set(_ engine: Engine) { box.withLock { $0.engine = engine } }
    var engine: Engine? { box.withLock { $0.engine } }
}
