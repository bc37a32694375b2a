internal import Foundation
internal import KizunaCore
internal import KizunaPostgREST
internal import KizunaStore
internal import KizunaTransport

/// Opens the store of an owner: with its file, the signal between processes, and what the store must know of the reads.
struct StoreOpening: Sendable {
    let directory: OwnerDirectory
    let environment: SyncEnvironment
    let logicalClock: LogicalClock
    let schemas: TableSchemas
    let patternEvaluation: KizunaPatternEvaluation
    let dependencies: Engine.Dependencies
    let registry: LiveReadRegistry

    func open(
        _ owner: OwnerID, onChange: @escaping @Sendable (StoreChange) -> Void
    ) throws(SyncError) -> OwnerStore {
        let file = directory.file(of: owner)
        let signal = file.path.flatMap { dependencies.changeSignal($0) }
        let undeclared = TableTypes(patternEvaluation: patternEvaluation)
        let store = try OwnerStore(
            file: file, owner: owner.text, logicalClock: logicalClock, now: environment.wallClock(),
            executor: environment.storeExecutor,
            sharing: StoreSharing(
                host: environment.host, leaseLength: dependencies.leaseLength, signal: signal,
                stayAwake: PlatformActivity.begin, shownLists: { [registry] in registry.iteratedKeys }),
            willCommit: dependencies.willCommit,
            mayShow: { [schemas] metadata, table in
                EmbeddedTables(TableRequest(metadata)) { schemas.declared($0) ?? TableSchema() }.mayShow(table)
            },
            reach: { [schemas] in $0.reach(in: schemas.declared($0.table)?.types ?? undeclared) }, onChange: onChange)
        signal.map { StoreWatch(store, environment).start($0) }
        if let damage = store.damage {
            environment.log.log(
                LogLine(
                    .error, "A damaged store was moved aside; a new one holds the writes that could be read",
                    [.savedMutations: "\(damage.savedWrites)", .isWhole: "\(damage.isWhole)"]))
        }
        protect()
        return store
    }

    /// Notes the current owner, and the previous owners whose rows are still to be removed, for the next start.
    func remember(_ owner: OwnerID, _ previousWithRows: [OwnerID]) {
        do {
            try directory.remember(owner, unsealed: previousWithRows)
        } catch {
            environment.log.log(LogLine(.warning, "The last owner could not be noted for the next start"))
        }
    }

    private func protect() {
        do {
            try directory.protect()
        } catch {
            // The files are still readable by this user alone.
            environment.log.log(
                LogLine(.warning, "The store could not be kept out of backups or set to be encrypted at rest"))
        }
    }
}
