internal import Foundation
internal import KizunaCore
internal import KizunaPostgREST
internal import KizunaStore
internal import KizunaTransport

/// Builds the parts of an engine, each from parts built before it. Nothing runs yet, and no file is open.
struct EngineParts: Sendable {
    let context: RequestContext
    let connectivity: Connectivity
    let ownerRunner: OwnerRunner
    let ownerControl: OwnerControl
    let previousOwnersWithRows: [OwnerID]
    let tokenSession: TokenSession?
    let registry: LiveReadRegistry
    let reads: ReadServices
    let pull: Pull
    let calls = CallsInProgress()
    let outcomes = MutationOutcomes()
    let writes: WriteQueue
    let queue: CurrentQueue
    let updates: StatusUpdates

    init(_ configuration: KizunaSyncConfiguration, _ dependencies: Engine.Dependencies) throws(SyncError) {
        try Self.check(configuration)
        let base = configuration.url.textWithoutTrailingSlash
        let environment = dependencies.environment ?? .live(log: configuration.log)
        let schemas = TableSchemas(configuration)
        let logicalClock = LogicalClock()
        let registry = LiveReadRegistry()
        let directory = OwnerDirectory(
            dataDirectory: dependencies.isInMemory ? nil : configuration.dataDirectory.path, projectURL: base)
        let opening = StoreOpening(
            directory: directory, environment: environment, logicalClock: logicalClock, schemas: schemas,
            patternEvaluation: configuration.patternEvaluation, dependencies: dependencies, registry: registry)
        let (runner, tokenSession) = Self.owners(configuration, directory, opening, environment)
        let owners = OwnerAccess(runner: runner, environment: environment)
        let gateway = Gateway(
            base: base, publishableKey: configuration.publishableKey,
            transport: dependencies.transport ?? PlatformTransport.http(), environment: environment,
            timeout: configuration.requestTimeout)
        context = RequestContext(
            environment: environment, gateway: gateway, logicalClock: logicalClock, schemas: schemas,
            trust: configuration.responseTrust, owners: owners,
            evictCachedQueries: CacheEviction(configuration.limits, registry, environment.log).run)
        connectivity = Connectivity(monitor: configuration.networkAvailability)
        let oneShot = OneShotReads(context: context, connectivity: connectivity, calls: calls)
        reads = ReadServices(
            live: LiveReads(registry: registry, context: context, connectivity: connectivity), oneShot: oneShot,
            decodedRows: DecodedRowsByType(), log: environment.log)
        pull = Pull(registry: registry, oneShot: oneShot, context: context)
        writes = WriteQueue(
            environment: environment, schemas: schemas, owners: owners, outcomes: outcomes,
            limits: .init(
                pendingMutations: configuration.limits.pendingMutations,
                mutationBytes: configuration.limits.mutationBytes),
            compactsUnsentWrites: configuration.compactsUnsentWrites)
        let updates = StatusUpdates(environment: environment, owners: owners)
        let queue = CurrentQueue(context: context, outcomes: outcomes, connectivity: connectivity) { [updates] state in
            updates.queueChanged(state)
        }
        ownerControl = OwnerControl(
            runner: runner, owners: owners, directory: directory, tokenSession: tokenSession,
            signOutPolicy: configuration.signOutPolicy, environment: environment
        ) { [queue] in try await queue.drain() }
        previousOwnersWithRows = directory.unsealedOwners()
        ownerRunner = runner
        self.tokenSession = tokenSession
        self.registry = registry
        self.queue = queue
        self.updates = updates
    }

    /// The runner of the owners, and the session of an app that hands over tokens itself.
    private static func owners(
        _ configuration: KizunaSyncConfiguration, _ directory: OwnerDirectory, _ opening: StoreOpening,
        _ environment: SyncEnvironment
    ) -> (OwnerRunner, TokenSession?) {
        let lastOwner = directory.lastOwner()
        let tokenSession = TokenSession(hasLastOwner: lastOwner != .nobody)
        let runner = OwnerRunner(
            lastOwner: lastOwner, policies: (configuration.identityPolicy, configuration.signOutPolicy),
            session: configuration.session ?? tokenSession, environment: environment,
            dependencies: .init(openStore: opening.open, remember: opening.remember))
        return (runner, configuration.session == nil ? tokenSession : nil)
    }

    private static func check(_ configuration: KizunaSyncConfiguration) throws(SyncError) {
        let url = configuration.url
        guard let scheme = url.scheme?.lowercased(), scheme == "https" || scheme == "http", let host = url.host(),
            !host.isEmpty, url.query() == nil, url.fragment() == nil
        else {
            throw SyncError(
                .invalidConfiguration,
                "The project's URL must be an http or https URL of a host, such as https://abc.supabase.co.")
        }
        guard configuration.publishableKey.isVisibleASCII else {
            throw SyncError(
                .invalidConfiguration, "The publishable key holds a space, a line end or another character no key has.")
        }
    }
}

extension TableSchemas {
    fileprivate init(_ configuration: KizunaSyncConfiguration) {
        var declared: [TableID: TableSchema] = [:]
        for table in configuration.tables {
            declared[TableID(schema: table.schema, name: table.name)] = TableSchema(
                keyColumns: table.primaryKey,
                types: TableTypes(columns: table.columns, patternEvaluation: configuration.patternEvaluation),
                generatesKeys: table.generatesKeys,
                references: table.references.mapValues { TableID(schema: table.schema, name: $0) },
                completeness: table.completeness ?? configuration.completeness, isDeclared: true)
        }
        self.init(
            declared: declared,
            undeclared: TableSchema(
                types: TableTypes(patternEvaluation: configuration.patternEvaluation),
                completeness: configuration.completeness))
    }
}
