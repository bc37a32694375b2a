internal import KizunaCore
internal import KizunaPostgREST
package import KizunaStore
internal import Synchronization

/// Runs the queue of one vault: does what its machine says and decides nothing.
///
/// State is guarded by one mutex; effects run in order after it is released. A runner lives as long as its vault is
/// open; what comes back later finds it ended.
package final class QueueRunner: Sendable {
    private struct State {
        var machine: QueueMachine
        var network: NetworkState
        var effectQueue = EffectQueue<QueueMachine.Effect>()
        /// Whether the writes found in the vault were taken up; changes before that are part of them.
        var hasStarted = false
        /// The last token the server did not accept for a write.
        var rejectedToken: String?
        /// Notes of failed sends that are being written down; a later send must not be noted before them.
        var notes: [AsyncGate] = []
        var timers: [Int: TimerTicket] = [:]
        /// Work in progress, to be called off at the end.
        var sends: [Int: TaskTicket] = [:]
        var running: Set<Int> = []
        var lastRun = 0
        /// Rows that came back with an accepted flight, until they are written down.
        var responses: [Int: FlightResponse] = [:]
        /// Tables whose rows may be written but not read back: nothing is asked for in return.
        var writeOnlyTables: Set<TableID> = []
        /// Those who follow what the queue is doing.
        var watchers: [Int: LatestValueChannel<QueueMachine.QueueState>] = [:]
        var lastWatcher = 0
        /// Until when the server asked to be left alone.
        var retryAt: MonotonicInstant?
    }

    private let handle: OwnerStoreHandle
    private let context: RequestContext
    private let lease: LeaseRenewal
    private let onState: @Sendable (QueueMachine.QueueState) -> Void
    private let state: Mutex<State>

    package init(
        handle: OwnerStoreHandle, context: RequestContext, network: NetworkState,
        isSessionReady: Bool,
        onState: @escaping @Sendable (QueueMachine.QueueState) -> Void = { _ in }
    ) {
        self.onState = onState
        self.handle = handle
        self.context = context
        lease = LeaseRenewal(store: handle.store, environment: context.environment)
        state = Mutex(
            State(
                machine: QueueMachine(
                    isPathUp: network.isPathUp, isEnabled: network.isEnabled, isSessionReady: isSessionReady),
                network: network))
    }

    // MARK: - Inputs

    /// Takes up the writes found when the vault was opened, in line with its changes.
    package func start() {
        context.environment.spawn { [self] in
            do {
                try await handle.store.deliverPending { entries in
                    state.withLock { $0.hasStarted = true }
                    step(.queued(entries.map(item)))
                }
            } catch {
                log(.error, "The queue could not be read; its writes wait for the next start", error)
            }
        }
    }

    package func storeChanged(_ change: StoreChange, generation: Int) {
        guard generation == handle.generation, state.withLock({ $0.hasStarted }) else { return }
        // Who sends comes first, so that nothing is begun in another process's turn.
        switch change.drainer {
        case .other(let remaining): step(.leaseHeldByOther(remaining))
        case .nobodyElse: step(.leaseHeldByOther(nil))
        case nil: break
        }
        if change.isOthers {
            for entry in change.updated { step(.rewritten(item(entry))) }
        }
        // The outcomes of this runner's own requests reach the machine when their commit returns.
        let left = change.ended.filter { change.isOthers || $0.fate == .withdrawn }.map(\.id)
        if !left.isEmpty { step(.withdrawn(left)) }
        for entry in change.rewritten { step(.rewritten(item(entry))) }
        if !change.queued.isEmpty { step(.queued(change.queued.map(item))) }
    }

    package func networkChanged(_ network: NetworkState) {
        let before = state.withLock { state in
            defer { state.network = network }
            if network.isBetter(than: state.network) { state.retryAt = nil }
            return state.network
        }
        // The switch first: where it is off, a path that is up must not start anything.
        if network.isEnabled != before.isEnabled { step(.networkSwitched(isEnabled: network.isEnabled)) }
        if network.isPathUp != before.isPathUp { step(.pathChanged(isUp: network.isPathUp)) }
    }

    package func sessionChanged(isReady: Bool) { step(.sessionChanged(isReady: isReady)) }
    /// Tries now, whatever the server asked for.
    package func wake() {
        state.withLock { $0.retryAt = nil }
        step(.woken)
    }

    /// Tries now whatever waits, and returns when nothing does; throws why not when it cannot go on at the moment. A server
    /// that asked to be left alone is left alone: then nothing is sent, and the error says for how long.
    package func drain() async throws {
        let channel = LatestValueChannel<QueueMachine.QueueState>()
        let id = state.withLock { state in
            state.lastWatcher += 1
            state.watchers[state.lastWatcher] = channel
            return state.lastWatcher
        }
        defer { state.withLock { $0.watchers[id] = nil } }
        step(.hurried)
        channel.put(state.withLock { $0.machine.state })
        while let now = try await channel.next() {
            switch now {
            case .idle: return
            case .draining: continue
            case .waitingForNetwork where !state.withLock({ $0.machine.isNetworkEnabled }):
                throw SyncError(.networkDisabled, "The network is switched off; the writes wait.")
            case .waitingForNetwork, .retrying:
                throw SyncError(
                    .connectivity, "The server could not be reached; the writes wait and are tried again.",
                    retryAfter: retryAfter)
            case .waitingForSession:
                throw SyncError(.sessionNotSettled, "There is no token of the store's user; the writes wait for one.")
            }
        }
        throw SyncError(.closed, "The client was closed, or the owner changed, before the queue was empty.")
    }

    package func end() {
        step(.ended)
        lease.end()
        let (sends, watchers) = state.withLock { state in
            defer {
                state.sends = [:]
                state.watchers = [:]
            }
            return (state.sends.values.map { $0 }, state.watchers.values.map { $0 })
        }
        for watcher in watchers { watcher.finish() }
        for send in sends { send.cancel() }
    }

    private func item(_ entry: QueuedMutation) -> QueueItem {
        let references = context.schemas[entry.table].references
        var parents: [QueueItem.Token] = []
        switch entry.operation {
        case .insert(let row), .upsert(let row, _, _), .update(let row, _):
            for (column, table) in references.sorted(by: { $0.key < $1.key }) {
                guard let value = row.member(column)?.scalarText else { continue }
                parents.append(.parent(table, RowKey(components: [value])))
            }
        case .delete: break
        }
        return QueueItem(entry, keyColumns: context.schemas[entry.table].keyColumns, parents: parents)
    }

    // MARK: - The step

    private func step(_ event: QueueMachine.Event) {
        let isMine = state.withLock { $0.effectQueue.add($0.machine.handle(event)) }
        guard isMine else { return }
        while let effect = state.withLock({ $0.effectQueue.next() }) { perform(effect) }
    }

    private func perform(_ effect: QueueMachine.Effect) {
        switch effect {
        case .send(let flight, let ids):
            let notes = state.withLock { $0.notes }
            run {
                for note in notes { await note.wait() }
                await self.send(flight, ids)
            }
        case .verify(let flight, let ids, let duplicate):
            run { await self.verify(flight, ids, duplicate) }
        case .commitDelivered(let flight, let ids): run { await self.commitDelivered(flight, ids) }
        case .commitRejected(let flight, let id, let dependants, let failure):
            run { await self.commitRejected(flight, id, dependants, failure) }
        case .recordFailure(let ids, let maybeSent, let reason):
            let note = AsyncGate()
            let isResting = state.withLock { state in
                state.notes.append(note)
                return state.machine.isResting
            }
            context.environment.spawn { [self] in
                defer {
                    note.open()
                    state.withLock { $0.notes.removeAll { $0 === note } }
                }
                do {
                    try await handle.store.sendFailed(
                        ids, maybeSent: maybeSent, error: reason, givingLeaseBack: isResting)
                } catch {
                    // The stored note says "maybe sent", which is the careful reading; nothing is lost.
                    log(.warning, "A failed send could not be noted", error)
                }
            }
        case .startTimer(let timer, let delay):
            let ticket = context.environment.clock.schedule(after: delay) { [weak self] in
                self?.state.withLock { $0.timers[timer] = nil }
                self?.step(.timerFired(timer: timer))
            }
            state.withLock { $0.timers[timer] = ticket }
        case .cancelTimer(let timer):
            state.withLock { $0.timers.removeValue(forKey: timer) }?.cancel()
        case .requestSession: requestSession()
        case .publish(let next):
            onState(next)
            for watcher in state.withLock({ $0.watchers.values.map { $0 } }) { watcher.put(next) }
        }
    }

    /// Tells of the token that was not accepted. Where a newer one came while the answer was on its way, the queue goes on
    /// with that.
    private func requestSession() {
        guard let rejected = state.withLock({ $0.rejectedToken }) else { return }
        context.tokenRejected(rejected)
        if case .token(let token) = context.credentials(generation: handle.generation), token != rejected {
            step(.sessionChanged(isReady: true))
        }
    }

    private func run(_ body: @escaping @Sendable () async -> Void) {
        let run = state.withLock { state in
            state.lastRun += 1
            state.running.insert(state.lastRun)
            return state.lastRun
        }
        let ticket = context.environment.spawn { [self] in
            await body()
            state.withLock { state in
                state.running.remove(run)
                state.sends[run] = nil
            }
        }
        state.withLock { state in
            if state.running.contains(run) { state.sends[run] = ticket }
        }
    }

    private func recordRetryAfter(_ outcome: WriteOutcome) {
        if outcome == .delivered { state.withLock { $0.retryAt = nil } }
        guard case .unavailable(let asked?, _) = outcome else { return }
        let until = context.environment.clock.now + RetryAfter.bounded(asked)
        state.withLock { $0.retryAt = max($0.retryAt ?? until, until) }
    }

    /// How long the server is to be left alone from now on.
    private var retryAfter: Duration? {
        let now = context.environment.clock.now
        return state.withLock { $0.retryAt }.flatMap { $0 > now ? $0 - now : nil }
    }

    /// Looks for rows as this queue's owner sees them.
    private var lookup: RowLookup { RowLookup(context: context, generation: handle.generation) }

    private var jitter: Double { context.environment.randomFraction() }

    private func log(_ severity: LogLine.Severity, _ message: StaticString, _ error: any Error) {
        let code = (error as? SyncError)?.code.rawValue ?? "other"
        context.environment.log.log(LogLine(severity, message, ["kizuna.error": code]))
    }
}

// MARK: - Sending

extension QueueRunner {
    private func send(_ flight: Int, _ ids: [String]) async {
        let entries: [QueuedMutation]
        do {
            let assumed = state.withLock { $0.machine.assumed(of: flight) }
            switch try await handle.store.beginSend(ids, assuming: assumed) {
            case .noted(let noted, let until):
                entries = noted
                lease.began(until: until)
            case .heldByOther(let remaining):
                return step(.leaseLost(flight: flight, wasSent: false, heldByOther: remaining))
            case .changed(let present):
                let missing = Set(ids).subtracting(present.map(\.id))
                if !missing.isEmpty { step(.withdrawn(missing.sorted())) }
                for entry in present { step(.rewritten(item(entry))) }
                return step(.leaseLost(flight: flight, wasSent: false, heldByOther: nil))
            }
        } catch {
            log(.warning, "A send could not be noted, so nothing was sent", error)
            return step(.notPersisted(flight: flight, jitter: jitter))
        }
        defer { lease.ended() }
        guard entries.count == ids.count, let first = entries.first, WriteRequest.canShare(entries) else {
            // Withdrawn or rewritten meanwhile.
            return step(.unanswered(flight: flight, mayHaveBeenHandled: false, reason: "withdrawn", jitter: jitter))
        }
        if entries.count > 1, first.isKeyed, state.withLock({ $0.writeOnlyTables.contains(first.table) }) {
            return step(.answered(flight: flight, .oneByOne, jitter: jitter))
        }
        do {
            let credentials = context.credentials(generation: handle.generation)
            let (response, isSilent) = try await exchange(entries, table: first.table, as: credentials)
            var outcome = WriteOutcome.judge(
                status: response.status, failure: response.failure,
                retryAfter: RetryAfter.duration(response.headers))
            if outcome == .needsSession, case .token(let token) = credentials {
                state.withLock { $0.rejectedToken = token }
            }
            if outcome == .delivered {
                guard
                    let parsed = FlightResponse(
                        entries, response, isSilent: isSilent, context.schemas[first.table].keyColumns)
                else { throw WireFailure(.outcomeUnknown, "the answer is not one of PostgREST") }
                state.withLock { $0.responses[flight] = parsed }
                if entries.count > 1, first.isKeyed {
                    outcome = await judge(shared: entries, flight, parsed)
                } else if parsed.touched == 0 || !parsed.notFound.isEmpty {
                    outcome = await judge(first, flight, parsed, response.status)
                }
            }
            recordRetryAfter(outcome)
            if outcome != .delivered { await fetchAgainWhatWasTakenOut(entries) }
            step(.answered(flight: flight, outcome, jitter: jitter))
        } catch let failure as WireFailure {
            await fetchAgainWhatWasTakenOut(entries)
            step(
                .unanswered(
                    flight: flight, mayHaveBeenHandled: failure.kind == .outcomeUnknown, reason: failure.kind.rawValue,
                    jitter: jitter))
        } catch {
            // Cancelled by the end of this runner: the note says "maybe sent", and the next start goes on from there.
        }
    }

    /// Nobody sends again what the app took out meanwhile, so nothing else tells of it when the server did it after all.
    private func fetchAgainWhatWasTakenOut(_ entries: [QueuedMutation]) async {
        do {
            let left = try await handle.store.entries(entries.map(\.id))
            if left.count < entries.count { try await handle.store.markTableStale(entries[0].table) }
        } catch {
            log(.warning, "The cached queries of a discarded mutation could not be marked stale", error)
        }
    }

    /// Sends a flight. Where rows may be written but not read back, it is sent again without asking for them.
    private func exchange(
        _ entries: [QueuedMutation], table: TableID, as credentials: Credentials
    ) async throws -> (WireResponse, isSilent: Bool) {
        guard credentials.isSettled else { throw WireFailure(.notSent, "no session") }
        let isSilent = state.withLock { $0.writeOnlyTables.contains(table) }
        let response = try await write(entries, returningRows: !isSilent, as: credentials)
        let isShared = entries.count > 1 && entries[0].isKeyed
        guard !isSilent, !isShared, response.failure.code == "42501" else {
            return (response, isSilent)
        }
        guard context.credentials(generation: handle.generation) == credentials else {
            throw WireFailure(.notSent, "the session changed")
        }
        let second = try await write(entries, returningRows: false, as: credentials)
        if (200..<300).contains(second.status) { state.withLock { _ = $0.writeOnlyTables.insert(table) } }
        return (second, true)
    }

    private func write(
        _ entries: [QueuedMutation], returningRows: Bool, as credentials: Credentials
    ) async throws -> WireResponse {
        // A process that was stopped since the note may have lost its turn.
        guard lease.isHeld else { throw WireFailure(.notSent, "the turn to send has passed") }
        return try await context.gateway.write(
            WriteRequest.make(entries, returningRows: returningRows), as: credentials, before: lease.until)
    }

    /// Which of several updates or deletes in one request did their work: those whose rows came back, and deletes of rows
    /// that are not there. Each other one is then sent on its own.
    private func judge(shared entries: [QueuedMutation], _ flight: Int, _ response: FlightResponse) async
        -> WriteOutcome
    {
        var done = Set(entries.filter { response.byID[$0.id]?.isEmpty == false }.map(\.id))
        let untouched = entries.filter { !done.contains($0.id) }
        var gone: [RowKey] = []
        if !untouched.isEmpty, case .delete = entries[0].operation, let left = await keysLeft(by: untouched) {
            for entry in untouched where entry.rowKeys.allSatisfy({ !left.contains($0) }) {
                done.insert(entry.id)
                gone += entry.rowKeys
            }
        }
        state.withLock { state in
            if case .deleted(let keys)? = state.responses[flight]?.rows {
                state.responses[flight]?.rows = .deleted(keys + gone)
            }
        }
        return done.count == entries.count ? .delivered : .partly(done)
    }

    /// The keys of deletes whose rows are still there; nil when that cannot be found out now. Each of those deletes is then
    /// sent again alone, and its own look-up retries.
    private func keysLeft(by entries: [QueuedMutation]) async -> Set<RowKey>? {
        do {
            return try await lookup.keysLeft(by: entries)
        } catch {
            return nil
        }
    }

    /// What it means that a write did not touch the rows it names. An update by key of a row that is not there did not do its
    /// work, unless it did it before and its conditions hold no more.
    private func judge(
        _ entry: QueuedMutation, _ flight: Int, _ response: FlightResponse, _ status: Int
    ) async -> WriteOutcome {
        guard !entry.rowKeys.isEmpty else { return .delivered }
        switch entry.operation {
        case .insert, .upsert: return .delivered
        case .delete: return await judge(delete: entry, flight, response, status)
        // Nothing was to be changed, as when all of an app's optional values were nil, and the server says of no row that it was.
        case .update(let patch, _) where (try? patch.objectMembers().isEmpty) ?? false: return .delivered
        case .update:
            let keyColumns = context.schemas[entry.table].keyColumns
            guard case .moves(let moves) = entry.keyChange(keyColumns: keyColumns), let move = moves.first,
                moves.count == 1, let request = TableRequest.movedRow(of: entry, keyColumns: keyColumns)
            else { return .matchedNothing(.noRowMatched(status: status)) }
            // Its earlier self is known by the key it gave the row.
            do {
                guard let row = try await lookup.row(of: request, context.schemas[entry.table]) else {
                    return .rejected(.noRowMatched(status: status))
                }
                state.withLock { state in
                    state.responses[flight]?.rows = .written([move.value: row])
                    state.responses[flight]?.previous = [move.key]
                    state.responses[flight]?.byID = [entry.id: [row]]
                }
            } catch {
                // The lists are fetched again then.
            }
            return .matchedNothing(.noRowMatched(status: status))
        }
    }

    /// What became of the rows that a delete names and did not meet. Those that were gone before are gone all the same. Those
    /// that are still to be seen were not deleted: a condition did not hold, or row level security hides its refusal.
    private func judge(
        delete entry: QueuedMutation, _ flight: Int, _ response: FlightResponse, _ status: Int
    ) async -> WriteOutcome {
        do {
            // Where it cannot be told, the lists that show the rows are fetched again.
            guard let left = try await lookup.keysLeft(by: [entry]) else { return .delivered }
            if response.touched == 0, !left.isEmpty { return .rejected(.noRowMatched(status: status)) }
            state.withLock { state in
                guard case .deleted(let keys)? = state.responses[flight]?.rows else { return }
                state.responses[flight]?.rows = .deleted(keys + response.notFound.filter { !left.contains($0) })
                state.responses[flight]?.notFound = []
            }
            return .delivered
        } catch {
            // A delete may be repeated, and then the rows are looked for again.
            return response.touched == 0 ? .unavailable(retryAfter: nil, mayHaveBeenHandled: true) : .delivered
        }
    }

    /// Asks which rows of a flight the server has already, after a send whose outcome was not known.
    private func verify(_ flight: Int, _ ids: [String], _ duplicate: ServerFailure) async {
        do {
            let entries = try await handle.store.entries(ids)
            guard let first = entries.first else {
                // The app took them out, or another process delivered them.
                return step(.leaseLost(flight: flight, wasSent: true, heldByOther: nil))
            }
            let schema = context.schemas[first.table]
            var present: Set<String> = []
            var rows: [RowKey: RawJSON] = [:]
            let found = try await lookup.rows(madeBy: entries, schema)
            for entry in entries {
                guard let key = entry.rowKeys.first else { continue }
                guard let row = found[key] else {
                    // It may be written and not be read. Nobody else can have made a row of a key that was made here.
                    let isAlone = entries.count == 1 ? entry.table.name : nil
                    if entry.hasGeneratedKey, duplicate.isAbout(key, schema.keyColumns, tableOfTheOnlyRow: isAlone) {
                        present.insert(entry.id)
                    }
                    continue
                }
                guard entry.isAuthor(of: row) else { continue }
                present.insert(entry.id)
                rows[key] = row
            }
            let response = FlightResponse(
                table: first.table, rows: rows.count == present.count ? .written(rows) : .unknown,
                byID: Dictionary(
                    uniqueKeysWithValues: entries.filter { present.contains($0.id) }.map {
                        ($0.id, $0.rowKeys.first.flatMap { rows[$0] }.map { [$0] } ?? [])
                    }))
            state.withLock { $0.responses[flight] = response }
            step(.verified(flight: flight, present: present))
        } catch {
            if let token = (error as? Gateway.ReadFailure)?.rejectedToken { context.tokenRejected(token) }
            step(.unanswered(flight: flight, mayHaveBeenHandled: true, reason: "not verified", jitter: jitter))
        }
    }
}

// MARK: - Writing verdicts down

extension QueueRunner {
    private func commitDelivered(_ flight: Int, _ ids: [String]) async {
        do {
            guard let response = state.withLock({ $0.responses[flight] }) else {
                preconditionFailure("QueueRunner: commitDelivered without a response")
            }
            let effect = response.effect
            // Also for mutations that were discarded meanwhile: the server did them, and what was fetched since may not show
            // it.
            try await handle.store.settle(
                ids, table: response.table, rows: response.byID, told: effect.told, keys: effect.keys
            ) { [schemas = context.schemas] metadata, present in
                effect.edit(of: schemas.shape(of: metadata), present: present)
            }
            finish(flight)
        } catch {
            log(.error, "An accepted write could not be written down; it is tried again", error)
            step(.commitFailed(flight: flight, jitter: jitter))
        }
    }

    private func finish(_ flight: Int) {
        step(.committed(flight: flight))
        state.withLock { state in
            state.responses[flight] = nil
        }
    }

    private func commitRejected(_ flight: Int, _ id: String, _ dependants: [String], _ failure: ServerFailure) async {
        do {
            let entries = try await handle.store.entries([id] + dependants)
            let now = context.environment.wallClock()
            let serverRow = await serverRow(of: entries.first { $0.id == id })
            let rejections = entries.map { entry in
                RejectedEntry(
                    entry: entry, failure: failure, dependsOn: entry.id == id ? nil : id,
                    serverRow: entry.id == id ? serverRow : nil, rejectedAt: now)
            }
            let isGivenUp = failure.code == ServerFailure.outcomeUnknownCode
            switch try await handle.store.reject(rejections, mayClaim: isGivenUp) {
            case .other(let remaining):
                return step(.leaseLost(flight: flight, wasSent: true, heldByOther: remaining))
            case .nobodyElse: return step(.leaseLost(flight: flight, wasSent: true, heldByOther: nil))
            case nil: break
            }
            finish(flight)
        } catch {
            log(.error, "A refusal could not be written down; it is tried again", error)
            step(.commitFailed(flight: flight, jitter: jitter))
        }
    }

    /// What the server has under the refused write's key, so that the app can show both. Not having it is no fault.
    private func serverRow(of entry: QueuedMutation?) async -> RawJSON? {
        guard let entry else { return nil }
        let schema = context.schemas[entry.table]
        guard let request = TableRequest.row(of: entry, keyColumns: schema.keyColumns) else { return nil }
        do {
            return try await lookup.row(of: request, schema)
        } catch {
            return nil
        }
    }
}

extension NetworkState {
    /// Whether something that was in the way is no more.
    fileprivate func isBetter(than other: NetworkState) -> Bool {
        isPathUp && !other.isPathUp || isEnabled && !other.isEnabled
    }
}
