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
    package struct Dependencies: Sendable {
        package var environment: SyncEnvironment?
        package var transport: (any WireTransport)?
        /// Keeps vaults in memory.
        package var isInMemory = false
        /// Called in the last moment before each commit; throws to make it fail.
        package var willCommit: (@Sendable () throws(SyncError) -> Void)?
        /// What tells the processes that share the store file at a path of each other's commits.
        package var changeSignal: @Sendable (_ path: String) -> (any ChangeSignal)? = { PlatformSignal.of($0) }
        /// How long a process may send the queue without a word.
        package var leaseLength = Lease.defaultLength

        package init() {}
    }

    /// What callers may wait for.
    private enum Awaited: Hashable {
        case settledSession
        case openStore
    }

    private struct State {
        var reads: [ObjectIdentifier: LiveReadRunner] = [:]
        var shared: [String: LiveReadRunner] = [:]
        var queue: QueueRunner?
        var feeds: [Int: PendingFeed] = [:]
        var rejectionFeeds: [Int: RejectionFeed] = [:]
        var lastFeed = 0
        var toldDepth = 0
        var gates: [Awaited: [Int: AsyncGate]] = [:]
        var storeFailure: SyncError?
        var isClosed = false
    }

    package let configuration: KizunaSyncConfiguration
    package let environment: SyncEnvironment
    package let gateway: Gateway
    package let logicalClock = LogicalClock()
    package let connectivity: Connectivity
    package let outcomes = MutationOutcomes()
    package let decodedRows = DecodedRowsByType()
    package let events: EventHub
    package let status = StateHub(KizunaSyncStatus())
    package let directory: OwnerDirectory
    private let schema: [TableID: TableSchema]
    private let state = Mutex(State())
    private let ownerBox = Mutex<OwnerRunner?>(nil)
    private let tokenSession: TokenSession?
    private let credentialsNotifier = CoalescingNotifier()
    let calls = CallsInProgress()

    /// How long closing waits for reads that are under way.
    private static let closeTimeout = Duration.seconds(5)
    /// What runs of `sync()` ask the server, which those that overlap share.
    let questions: SingleFlight<Question>

    /// Opens the store and starts the engine.
    package init(_ configuration: KizunaSyncConfiguration, dependencies: Dependencies) throws(SyncError) {
        self.configuration = configuration
        let environment = dependencies.environment ?? .live(log: configuration.log)
        self.environment = environment
        questions = SingleFlight(in: environment)
        let base = try Self.base(of: configuration.url)
        guard configuration.publishableKey.isVisibleASCII else {
            throw SyncError(
                .invalidConfiguration, "The publishable key holds a space, a line end or another character no key has.")
        }
        gateway = Gateway(
            base: base, publishableKey: configuration.publishableKey,
            transport: dependencies.transport ?? PlatformTransport.http(), environment: environment,
            timeout: configuration.requestTimeout)
        connectivity = Connectivity(monitor: configuration.networkAvailability)
        schema = Self.schema(configuration)
        events = EventHub(environment: environment)
        let directory = OwnerDirectory(
            dataDirectory: dependencies.isInMemory ? nil : configuration.dataDirectory.path, projectURL: base)
        self.directory = directory
        let lastOwner = directory.lastOwner()
        let tokenSession = configuration.session == nil ? TokenSession(hasLastOwner: lastOwner != .nobody) : nil
        self.tokenSession = tokenSession
        guard let session = configuration.session ?? tokenSession else {
            preconditionFailure("Engine: neither a session source nor a token session")
        }
        let weakSelf = WeakEngine()
        let undeclared = TableTypes(patternEvaluation: configuration.patternEvaluation)
        let previousOwnersWithRows = directory.unsealedOwners()
        let owners = try OwnerRunner(
            lastOwner: lastOwner, policies: (configuration.identityPolicy, configuration.signOutPolicy),
            session: session, environment: environment,
            dependencies: .init(
                openStore: { [logicalClock, schema] (owner, generation) throws(SyncError) in
                    let file = directory.file(of: owner)
                    let signal = file.path.flatMap { dependencies.changeSignal($0) }
                    let store = try OwnerStore(
                        file: file, owner: owner.text, logicalClock: logicalClock, now: environment.wallClock(),
                        executor: environment.storeExecutor,
                        sharing: StoreSharing(
                            host: environment.host, leaseLength: dependencies.leaseLength, signal: signal,
                            stayAwake: PlatformActivity.begin, shownLists: { weakSelf.engine?.iteratedKeys ?? [] }),
                        willCommit: dependencies.willCommit,
                        mayShow: { head, table in
                            EmbeddedTables(TableRequest(head)) { schema[$0] ?? TableSchema() }.mayShow(table)
                        },
                        reach: { $0.reach(in: schema[$0.table]?.types ?? undeclared) }
                    ) { change in weakSelf.engine?.storeChanged(change, generation: generation) }
                    signal.map { StoreWatch(store, environment).start($0) }
                    if let damage = store.damage {
                        environment.log.log(
                            LogLine(
                                .error,
                                "A damaged store was moved aside; a new one holds the writes that could be read",
                                ["saved": "\(damage.savedWrites)", "whole": "\(damage.isWhole)"]))
                    }
                    Self.protect(directory, environment.log)
                    return store
                },
                remember: { owner, unsealed in
                    do {
                        try directory.remember(owner, unsealed: unsealed)
                    } catch {
                        environment.log.log(LogLine(.warning, "The last owner could not be noted for the next start"))
                    }
                },
                notify: { weakSelf.engine?.ownerNotice($0) }))
        ownerBox.withLock { $0 = owners }
        weakSelf.set(self)
        connectivity.start { [weak self] network in self?.networkChanged(network) }
        owners.start(previousOwnersWithRows: previousOwnersWithRows)
        if let tokenSession { owners.take(tokenSession.initial) }
    }

    private static func protect(_ directory: OwnerDirectory, _ log: any LogSink) {
        do {
            try directory.protect()
        } catch {
            // The files are still readable by this user alone.
            log.log(LogLine(.warning, "The store could not be kept out of backups or set to be encrypted at rest"))
        }
    }

    private static func base(of url: URL) throws(SyncError) -> String {
        guard let scheme = url.scheme?.lowercased(), scheme == "https" || scheme == "http", let host = url.host(),
            !host.isEmpty, url.query() == nil, url.fragment() == nil
        else {
            throw SyncError(
                .invalidConfiguration,
                "The project's URL must be an http or https URL of a host, such as https://abc.supabase.co.")
        }
        return url.textWithoutTrailingSlash
    }

    private static func schema(_ configuration: KizunaSyncConfiguration) -> [TableID: TableSchema] {
        var schema: [TableID: TableSchema] = [:]
        for table in configuration.tables {
            schema[TableID(schema: table.schema, name: table.name)] = TableSchema(
                keyColumns: table.primaryKey,
                types: TableTypes(columns: table.columns, patternEvaluation: configuration.patternEvaluation),
                generatesKeys: table.generatesKeys,
                references: table.references.mapValues { TableID(schema: table.schema, name: $0) },
                completeness: table.completeness ?? configuration.completeness, isDeclared: true)
        }
        return schema
    }

    // MARK: - What reads and the queue ask

    package func tables(_ table: TableID) -> TableSchema {
        schema[table]
            ?? TableSchema(
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
    /// The cache keys of live reads that are iterated.
    package var iteratedKeys: Set<String> { Set(state.withLock { $0.reads.values.map(\.cacheKey) }) }

    /// The open vault; waits while the owner is changing.
    ///
    /// Where that could not be opened it is tried once more: a full disk or another process may be in the way no longer.
    package func handle() async throws -> OwnerStoreHandle {
        var hasTried = false
        while true {
            let (isClosed, failure) = state.withLock { ($0.isClosed, $0.storeFailure) }
            guard !isClosed else { throw SyncError(.closed, "The client is closed.") }
            if let handle = openHandle { return handle }
            if let failure {
                guard !hasTried else { throw failure }
                hasTried = true
                owners?.retryOpeningStore()
                continue
            }
            try await pass(.openStore, unless: { self.openHandle != nil })
        }
    }

    /// The open vault, nil while the owner is changing.
    package var openHandle: OwnerStoreHandle? { owners?.handle }

    // MARK: - The app's hand

    /// Takes a session the app tells; with a generation, only while that one is the present.
    package func take(_ session: SessionState, generation: Int? = nil) throws(SyncError) {
        try ensureTakesTokens()
        owners?.take(session, generation: generation)
        tokenSession?.note(session)
    }

    /// Throws where the session is the business of a session source.
    package func ensureTakesTokens() throws(SyncError) {
        guard tokenSession != nil else {
            throw SyncError(
                .invalidConfiguration,
                "The configuration has a session source, so sign-ins and sign-outs come from there.")
        }
    }

    /// Waits until the session source has told its first state, so that rows of a user who is signed out are never
    /// shown; a source that tells none is not waited for long.
    package func sessionBegan() async {
        guard let owners else { return }
        let timer = environment.clock.schedule(after: .seconds(1)) { owners.hasBegun.open() }
        defer { timer.cancel() }
        await owners.hasBegun.wait()
    }

    /// The live reads that are iterated.
    var liveReads: [LiveReadRunner] { state.withLock { Array($0.reads.values) } }

    /// Tries at once whatever waits, in the queue and in live reads, whatever the server asked for.
    package func wake() {
        state.withLock { $0.queue }?.wake()
        for read in liveReads { read.hurry(isAppsWish: true) }
    }

    /// Allows requests again; a call cuts waits short even where they were allowed already.
    package func enableNetwork() {
        let wasEnabled = connectivity.network.isEnabled
        connectivity.setEnabled(true)
        if wasEnabled { wake() }
    }

    /// Sends what waits; returns when nothing does.
    package func drain() async throws {
        try await state.withLock { $0.queue }?.drain()
    }

    package var softBlockReason: String? { owners?.softBlockReason }

    package func resetOwner() { owners?.reset() }

    /// Ends everything; where another engine takes its place, the caller ends the events when that is there.
    package func close(isReplaced: Bool = false) async {
        calls.beginClosing()
        // A read that waits for the session is answered by what is stored.
        open(.settledSession)
        await calls.end(within: Self.closeTimeout, clock: environment.clock)
        let ((reads, queue, feeds, rejections), gates) = state.withLock { state in
            defer { state = State(isClosed: true) }
            return (Self.listeners(state), state.gates.values.flatMap(\.values))
        }
        if !isReplaced { events.end(nil) }
        connectivity.stop()
        for gate in gates { gate.open() }
        queue?.end()
        for read in reads { read.end() }
        status.end()
        for feed in feeds { feed.end() }
        for feed in rejections { feed.end() }
        outcomes.end(SyncError(.closed, "The client was closed before the server gave a verdict."), isFinal: true)
        await owners?.close()
    }
}

// MARK: - News

extension Engine {
    private func storeChanged(_ change: StoreChange, generation: Int) {
        if change.isOthers, isPresent(generation) { outcomes.announce(change) }
        let (reads, queue, feeds, rejections) = listeners
        for read in reads { read.storeChanged(change, generation: generation) }
        guard isPresent(generation) else { return }
        queue?.storeChanged(change, generation: generation)
        for feed in feeds { feed.storeChanged(change, generation: generation) }
        for feed in rejections { feed.storeChanged(change, generation: generation) }
        tell(change, generation: generation)
    }

    private func isPresent(_ generation: Int) -> Bool { owners?.handle?.generation == generation }

    /// Takes over what a vault holds when it is opened, in line with its changes.
    private func recordCounts(of handle: OwnerStoreHandle) {
        environment.spawn { [self] in
            // A vault that cannot be read says so wherever it is read for rows.
            try? await handle.store.deliverCounts { pending, rejected in
                status.update { status in
                    guard isPresent(handle.generation) else { return }
                    status.pendingMutationCount = pending
                    status.rejectedMutationCount = rejected
                    status.damage = handle.store.damage.map { KizunaStoreDamage($0) }
                }
                if isPresent(handle.generation) { tellDepth(pending) }
            }
        }
    }

    private func tell(_ change: StoreChange, generation: Int) {
        status.update { status in
            guard isPresent(generation) else { return }
            status.pendingMutationCount = change.queueDepth
            status.rejectedMutationCount += change.rejected.count - change.unrejected.count
        }
        var tables = Set(change.queueTables.map(\.name))
        tables.formUnion(change.changedTables.map(\.name))
        if !tables.isEmpty || change.isCleared { events.tell(.localChanged(tables: tables)) }
        tellDepth(change.queueDepth)
        for rejected in change.rejected { events.tell(.mutationRejected(id: rejected.entry.id)) }
    }

    /// Tells how many writes wait, where that is news.
    private func tellDepth(_ depth: Int) {
        let isNew = state.withLock { state in
            defer { state.toldDepth = depth }
            return state.toldDepth != depth
        }
        if isNew { events.tell(.queueDepth(depth)) }
    }

    private func networkChanged(_ network: NetworkState) {
        let (reads, queue, _, _) = listeners
        for read in reads { read.networkChanged(network) }
        queue?.networkChanged(network)
        if network.isEnabled, network.isPathUp { owners?.networkReturned() }
        status.update { $0.network = !network.isEnabled ? .disabled : network.isPathUp ? .online : .offline }
    }

    private func ownerNotice(_ notice: OwnerRunner.Notice) {
        let (reads, queue, feeds, rejections) = listeners
        switch notice {
        case .ownerChanging(let generation):
            state.withLock { state in
                state.queue = nil
                state.storeFailure = nil
            }
            queue?.end()
            outcomes.end(Self.leftBehind, isFinal: false)
            status.update { status in
                status.pendingMutationCount = 0
                status.rejectedMutationCount = 0
                status.queue = .idle
                status.damage = nil
            }
            for read in reads { read.ownerChanged(generation: generation) }
            decodedRows.forget()
            for feed in feeds { feed.ownerChanged(generation: generation) }
            for feed in rejections { feed.ownerChanged(generation: generation) }
        case .storeOpened(let handle):
            let runner = QueueRunner(
                handle: handle, context: self, outcomes: outcomes, network: connectivity.network,
                isSessionReady: isSessionSettled
            ) { [status] next in status.update { $0.queue = .init(next) } }
            state.withLock { $0.queue = runner }
            runner.networkChanged(connectivity.network)
            runner.sessionChanged(isReady: isSessionSettled)
            runner.start()
            recordCounts(of: handle)
            open(.openStore)
            if handle.generation > 1 { events.tell(.ownerChanged) }
            if let damage = handle.store.damage { events.tell(.storeDamaged(KizunaStoreDamage(damage))) }
            for read in reads { read.storeOpened(handle) }
            for feed in feeds { feed.storeOpened(handle, in: environment) }
            for feed in rejections { feed.storeOpened(handle, in: environment) }
        case .storeFailed(let error):
            environment.log.log(
                LogLine(.error, "The owner's store could not be opened", ["kizuna.error": error.code.rawValue]))
            state.withLock { $0.storeFailure = error }
            open(.openStore)
            for read in reads { read.end(.failure(error)) }
        case .softBlocked(let reason): events.tell(.resetRequired(reason: reason))
        case .credentials:
            credentialsNotifier.tell {
                let isSettled = isSessionSettled
                let (reads, queue, _, _) = listeners
                if isSettled { open(.settledSession) }
                status.update { $0.needsSession = !isSettled }
                for read in reads { read.sessionChanged(isSettled: isSettled) }
                queue?.sessionChanged(isReady: isSettled)
            }
        }
    }

    private func open(_ awaited: Awaited) {
        let gates = state.withLock { $0.gates.removeValue(forKey: awaited) ?? [:] }
        for gate in gates.values { gate.open() }
    }

    /// Waits for something, at most so long, unless it is there already.
    private func pass(
        _ awaited: Awaited, within limit: Duration? = nil,
        unless isMet: () -> Bool
    ) async throws {
        let gate = AsyncGate()
        let id = try add { $0.gates[awaited, default: [:]][$1] = gate }
        defer { removeFeed(id) }
        guard !isMet() else { return }
        let timer = limit.map { environment.clock.schedule(after: $0) { gate.open() } }
        defer { timer?.cancel() }
        await withTaskCancellationHandler {
            await gate.wait()
        } onCancel: {
            gate.open()
        }
        try Task.checkCancellation()
    }

    /// Waits until the session has settled, at most so long; says whether it has.
    package func settled(within limit: Duration) async throws -> Bool {
        try await pass(.settledSession, within: limit, unless: { isSessionSettled })
        return isSessionSettled
    }

    private typealias Listeners = ([LiveReadRunner], QueueRunner?, [PendingFeed], [RejectionFeed])

    private var listeners: Listeners { state.withLock { Self.listeners($0) } }

    private static func listeners(_ state: State) -> Listeners {
        (Array(state.reads.values), state.queue, Array(state.feeds.values), Array(state.rejectionFeeds.values))
    }
}

// MARK: - Reads and feeds in progress

extension Engine {
    /// Joins the live read of a request, or starts it. Reads that show the cache first share one per request.
    package func joinRead(
        _ request: TableRequest, strategy: SequenceReadStrategy
    ) throws(SyncError) -> (read: LiveReadRunner, id: Int, channel: LatestValueChannel<RawSnapshot>) {
        let isShared = strategy == .cacheFirstThenNetwork
        let fresh = LiveReadRunner(
            request: request, strategy: strategy, context: self, network: connectivity.network,
            isSessionSettled: isSessionSettled)
        let joined = state.withLock { state -> (LiveReadRunner, Int, LatestValueChannel<RawSnapshot>)? in
            guard !state.isClosed else { return nil }
            if isShared, let read = state.shared[request.cacheKey], let joined = read.join() {
                return (read, joined.id, joined.channel)
            }
            guard let joined = fresh.join() else { return nil }
            state.reads[ObjectIdentifier(fresh)] = fresh
            if isShared { state.shared[request.cacheKey] = fresh }
            return (fresh, joined.id, joined.channel)
        }
        guard let joined else { throw SyncError(.closed, "The client is closed.") }
        if joined.0 === fresh { catchUp(fresh) }
        return joined
    }

    /// Tells a read that has just been registered what it may have missed, until nothing changed meanwhile.
    private func catchUp(_ read: LiveReadRunner) {
        var told: (network: NetworkState, isSettled: Bool)?
        while true {
            let now = (network: connectivity.network, isSettled: isSessionSettled)
            if let told, told == now { break }
            read.networkChanged(now.network)
            read.sessionChanged(isSettled: now.isSettled)
            told = now
        }
        if let handle = openHandle { read.storeOpened(handle) }
        if state.withLock({ $0.storeFailure != nil }) { owners?.retryOpeningStore() }
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

    package func addFeed(_ feed: RejectionFeed) throws(SyncError) -> Int {
        try add { $0.rejectionFeeds[$1] = feed }
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
            state.rejectionFeeds[id] = nil
            for awaited in state.gates.keys { state.gates[awaited]?[id] = nil }
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
