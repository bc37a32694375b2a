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
        var outbox = Outbox<QueueMachine.Effect>()
        /// Whether the writes found in the vault were taken up; changes before that are part of them.
        var hasStarted = false
        /// The last token the server did not accept for a write.
        var rejectedToken: String?
        /// Notes of failed sends that are being written down; a later send must not be noted before them.
        var notes: [Gate] = []
        var timers: [Int: TimerTicket] = [:]
        /// Work in progress, to be called off at the end.
        var sends: [Int: TaskTicket] = [:]
        var running: Set<Int> = []
        var lastRun = 0
        /// Rows that came back with an accepted flight, until they are written down.
        var answers: [Int: FlightAnswer] = [:]
        /// Tables whose rows may be written but not read back: nothing is asked for in return.
        var silentTables: Set<TableID> = []
        /// Those who follow what the queue is doing.
        var watchers: [Int: LatestMailbox<QueueMachine.QueueState>] = [:]
        var lastWatcher = 0
        /// Until when the server asked to be left alone.
        var retryAt: MonotonicInstant?
    }

    private let handle: VaultHandle
    private let context: any ReadContext
    private let board: VerdictBoard
    private let onState: @Sendable (QueueMachine.QueueState) -> Void
    private let state: Mutex<State>

    package init(
        handle: VaultHandle, context: any ReadContext, board: VerdictBoard, network: NetworkState, isSessionReady: Bool,
        onState: @escaping @Sendable (QueueMachine.QueueState) -> Void = { _ in }
    ) {
        self.onState = onState
        self.handle = handle
        self.context = context
        self.board = board
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
                try await handle.vault.deliverPending { entries in
                    state.withLock { $0.hasStarted = true }
                    step(.queued(entries.map(item)))
                }
            } catch {
                log(.error, "The queue could not be read; its writes wait for the next start", error)
            }
        }
    }

    package func vaultChanged(_ change: VaultChange, generation: Int) {
        guard generation == handle.generation, state.withLock({ $0.hasStarted }) else { return }
        if !change.queued.isEmpty { step(.queued(change.queued.map(item))) }
        for entry in change.rewritten { step(.rewritten(item(entry))) }
        let refused = Set(change.refused.map(\.entry.id))
        let withdrawn = change.ended.map(\.id).filter { !refused.contains($0) && !isSettling($0) }
        if !withdrawn.isEmpty {
            step(.withdrawn(withdrawn))
            let error = SyncError(.discarded, "The write was taken out of the queue before the server gave a verdict.")
            for id in withdrawn { board.announce(.withdrawn(error), for: id) }
        }
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
        let mailbox = LatestMailbox<QueueMachine.QueueState>()
        let id = state.withLock { state in
            state.lastWatcher += 1
            state.watchers[state.lastWatcher] = mailbox
            return state.lastWatcher
        }
        defer { state.withLock { $0.watchers[id] = nil } }
        step(.hurried)
        mailbox.put(state.withLock { $0.machine.state })
        while let now = try await mailbox.next() {
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

    private func item(_ entry: QueueEntry) -> QueueItem {
        let references = context.tables(entry.table).references
        var parents: [QueueItem.Token] = []
        switch entry.operation {
        case .insert(let row), .upsert(let row, _, _), .update(let row, _):
            for (column, table) in references.sorted(by: { $0.key < $1.key }) {
                guard let value = row.member(column)?.scalarText else { continue }
                parents.append(.row(table, RowKey(components: [value])))
            }
        case .delete: break
        }
        return QueueItem(entry, parents: parents)
    }

    private func isSettling(_ id: String) -> Bool {
        state.withLock { state in state.answers.values.contains { $0.settled.contains(id) } }
    }

    // MARK: - The step

    private func step(_ event: QueueMachine.Event) {
        let isMine = state.withLock { $0.outbox.add($0.machine.handle(event)) }
        guard isMine else { return }
        while let effect = state.withLock({ $0.outbox.next() }) { perform(effect) }
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
        case .commitRefused(let flight, let id, let dependants, let failure):
            run { await self.commitRefused(flight, id, dependants, failure) }
        case .noteFailure(let ids, let maybeSent, let reason):
            let note = Gate()
            state.withLock { $0.notes.append(note) }
            context.environment.spawn { [self] in
                defer {
                    note.open()
                    state.withLock { $0.notes.removeAll { $0 === note } }
                }
                do {
                    try await handle.vault.sendFailed(ids, maybeSent: maybeSent, error: reason)
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

    private func noteRetryAfter(_ verdict: AnswerVerdict) {
        if verdict == .delivered { state.withLock { $0.retryAt = nil } }
        guard case .unavailable(let asked?, _) = verdict else { return }
        let until = context.environment.clock.now + min(asked, QueueMachine.longestRetryAfter)
        state.withLock { $0.retryAt = max($0.retryAt ?? until, until) }
    }

    /// How long the server is to be left alone from now on.
    private var retryAfter: Duration? {
        let now = context.environment.clock.now
        return state.withLock { $0.retryAt }.flatMap { $0 > now ? $0 - now : nil }
    }

    /// Whether this queue's owner is still the present one, with a token.
    @Sendable private func isStillOwner() -> Bool { context.credentials(generation: handle.generation).isSettled }

    private var jitter: Double { context.environment.randomFraction() }

    private func log(_ severity: LogLine.Severity, _ message: StaticString, _ error: any Error) {
        let code = (error as? SyncError)?.code.rawValue ?? "other"
        context.environment.log.log(LogLine(severity, message, ["kizuna.error": code]))
    }
}

// MARK: - Sending

/// What came back with an accepted flight.
private struct FlightAnswer: Sendable {
    var rows: DeliveryEffect.Rows
    var byID: [String: [RawJSON]]
    var touched: Int?
    var settled: Set<String>
}

extension QueueRunner {
    private func send(_ flight: Int, _ ids: [String]) async {
        let entries: [QueueEntry]
        do {
            try await handle.vault.beginSend(ids)
            entries = try await handle.vault.entries(ids)
        } catch {
            log(.warning, "A send could not be noted, so nothing was sent", error)
            return step(.notNoted(flight: flight, jitter: jitter))
        }
        guard entries.count == ids.count, let first = entries.first, WriteRequest.canShare(entries) else {
            // Withdrawn or rewritten meanwhile.
            return step(.unanswered(flight: flight, mayHaveBeenHandled: false, reason: "withdrawn", jitter: jitter))
        }
        do {
            let credentials = context.credentials(generation: handle.generation)
            let (response, isSilent) = try await exchange(entries, table: first.table, as: credentials)
            var verdict = AnswerVerdict.judge(
                status: response.status, failure: response.failure,
                retryAfter: RetryAfter.duration(response.headers["retry-after"]))
            if verdict == .needsSession, case .token(let token) = credentials {
                state.withLock { $0.rejectedToken = token }
            }
            if verdict == .delivered {
                guard
                    let answer = FlightAnswer(
                        entries, response, isSilent: isSilent, context.tables(first.table).keyColumns)
                else { throw WireFailure(.outcomeUnknown, "the answer is not one of PostgREST") }
                state.withLock { $0.answers[flight] = answer }
                if answer.touched == 0, await touchedNothing(first) {
                    verdict = .refused(.noRowMatched(status: response.status))
                }
            }
            noteRetryAfter(verdict)
            step(.answered(flight: flight, verdict, jitter: jitter))
        } catch let failure as WireFailure {
            step(
                .unanswered(
                    flight: flight, mayHaveBeenHandled: failure.kind == .outcomeUnknown, reason: failure.kind.rawValue,
                    jitter: jitter))
        } catch {
            // Cancelled by the end of this runner: the note says "maybe sent", and the next start goes on from there.
        }
    }

    /// Sends a flight. Where rows may be written but not read back, it is sent again without asking for them.
    private func exchange(
        _ entries: [QueueEntry], table: TableID, as credentials: OwnerMachine.Credentials
    ) async throws -> (WireResponse, isSilent: Bool) {
        guard credentials.isSettled else { throw WireFailure(.notSent, "no session") }
        var isSilent = state.withLock { $0.silentTables.contains(table) }
        let response = try await context.gateway.write(
            WriteRequest.make(entries, returningRows: !isSilent), as: credentials)
        guard !isSilent, response.failure.code == "42501" else {
            return (response, isSilent)
        }
        isSilent = true
        guard context.credentials(generation: handle.generation) == credentials else {
            throw WireFailure(.notSent, "the session changed")
        }
        let second = try await context.gateway.write(WriteRequest.make(entries, returningRows: false), as: credentials)
        if (200..<300).contains(second.status) { state.withLock { _ = $0.silentTables.insert(table) } }
        return (second, isSilent)
    }

    /// Whether an update or delete by key that touched no row did not do its work. An update of a row that is not there
    /// did not. A delete did not when the row is still to be seen: row level security hides its refusals so.
    private func touchedNothing(_ entry: QueueEntry) async -> Bool {
        guard !entry.rowKeys.isEmpty else { return false }
        switch entry.operation {
        case .update: return true
        case .delete: return await serverRow(of: entry) != nil
        case .insert, .upsert: return false
        }
    }

    /// Asks which rows of a flight the server has already, after a send whose outcome was not known.
    private func verify(_ flight: Int, _ ids: [String], _ duplicate: ServerFailure) async {
        do {
            let entries = try await handle.vault.entries(ids)
            guard let first = entries.first else { return }
            let facts = context.tables(first.table)
            var present: Set<String> = []
            var rows: [RowKey: RawJSON] = [:]
            for entry in entries {
                guard let key = entry.rowKeys.first,
                    let request = TableRequest.row(of: entry, keyColumns: facts.keyColumns)
                else { continue }
                guard let row = try await row(of: request, facts) else {
                    // It may be written and not be read. Nobody else can have made a row of a key that was made here.
                    let isAlone = entries.count == 1 ? entry.table.name : nil
                    if entry.isKeyMinted, duplicate.isAbout(key, facts.keyColumns, tableOfTheOnlyRow: isAlone) {
                        present.insert(entry.id)
                    }
                    continue
                }
                guard entry.isAuthor(of: row) else { continue }
                present.insert(entry.id)
                rows[key] = row
            }
            let answer = FlightAnswer(
                rows: rows.count == present.count ? .written(rows) : .untold,
                byID: Dictionary(
                    uniqueKeysWithValues: entries.filter { present.contains($0.id) }.map {
                        ($0.id, $0.rowKeys.first.flatMap { rows[$0] }.map { [$0] } ?? [])
                    }), settled: present)
            state.withLock { $0.answers[flight] = answer }
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
            let entries = try await handle.vault.entries(ids)
            let answer = state.withLock { $0.answers[flight] }
            guard let first = entries.first else {
                // The app took it out, or cleared everything, while the answer was on its way.
                finish(flight)
                for id in ids { board.announce(.delivered(answer?.byID[id] ?? []), for: id) }
                return
            }
            let effect = DeliveryEffect(answer?.rows ?? .untold)
            let context = context
            try await handle.vault.settle(
                ids, table: first.table, rows: answer?.byID ?? [:], keys: effect.keys
            ) { head, present in
                effect.edit(of: context.shape(of: head), present: present)
            }
            finish(flight)
            for id in ids { board.announce(.delivered(answer?.byID[id] ?? []), for: id) }
        } catch {
            log(.error, "An accepted write could not be written down; it is tried again", error)
            step(.commitFailed(flight: flight, jitter: jitter))
        }
    }

    private func finish(_ flight: Int) {
        step(.committed(flight: flight))
        state.withLock { state in
            state.answers[flight] = nil
        }
    }

    private func commitRefused(_ flight: Int, _ id: String, _ dependants: [String], _ failure: ServerFailure) async {
        do {
            let entries = try await handle.vault.entries([id] + dependants)
            let now = context.environment.wallClock()
            let serverRow = await serverRow(of: entries.first { $0.id == id })
            let refusals = entries.map { entry in
                RefusedEntry(
                    entry: entry, failure: failure, dependsOn: entry.id == id ? nil : id,
                    serverRow: entry.id == id ? serverRow : nil, refusedAt: now)
            }
            try await handle.vault.refuse(refusals)
            finish(flight)
            for refusal in refusals {
                let error = SyncError(refusal: failure, table: refusal.entry.table.name)
                board.announce(.refused(error), for: refusal.entry.id)
            }
        } catch {
            log(.error, "A refusal could not be written down; it is tried again", error)
            step(.commitFailed(flight: flight, jitter: jitter))
        }
    }

    /// What the server has under the refused write's key, so that the app can show both. Not having it is no fault.
    private func serverRow(of entry: QueueEntry?) async -> RawJSON? {
        guard let entry else { return nil }
        let facts = context.tables(entry.table)
        guard let request = TableRequest.row(of: entry, keyColumns: facts.keyColumns) else { return nil }
        do {
            return try await row(of: request, facts)
        } catch {
            return nil
        }
    }

    /// The one row of a request as the queue's owner sees it.
    private func row(of request: TableRequest, _ facts: TableFacts) async throws -> RawJSON? {
        let credentials = context.credentials(generation: handle.generation)
        // Without a session row level security would show nothing, and that would read as a row that is not there.
        guard credentials.isSettled else { throw WireFailure(.notSent, "no session") }
        let response = try await context.gateway.read(request, as: credentials, while: isStillOwner)
        return try AnswerRows(response, to: request, keyColumns: facts.keyColumns).all().first
    }
}

extension FlightAnswer {
    /// Reads the rows an accepted write sent back; nil where the answer is not PostgREST's own: rows where rows were asked
    /// for, else nothing. The login page of a network answers 200 too, and it has written no row.
    init?(_ entries: [QueueEntry], _ response: WireResponse, isSilent: Bool, _ keyColumns: [String]) {
        var answered: [RawJSON]?
        if response.body.isEmpty {
            guard isSilent || response.status == 201 || response.status == 204 else { return nil }
        } else {
            guard !isSilent, let rows = try? RawJSON(validating: response.body).arrayElements() else { return nil }
            answered = rows
        }
        settled = Set(entries.map(\.id))
        byID = [:]
        rows = .untold
        if isSilent, response.headers["content-range"] == "*/*", entries.first.map(\.isUpdate) ?? false { touched = 0 }
        guard let answered else { return }
        touched = answered.count
        var byKey: [RowKey: RawJSON] = [:]
        for row in answered {
            guard let key = row.rowKey(columns: keyColumns) else { return }
            byKey[key] = row
        }
        let isDelete = entries.contains { if case .delete = $0.operation { true } else { false } }
        rows = isDelete ? .deleted(Array(byKey.keys)) : .written(byKey)
        if isDelete, let entry = entries.first, !entry.rowKeys.isEmpty {
            // A row that was gone already is gone all the same.
            rows = .deleted(entry.rowKeys)
        }
        for entry in entries {
            byID[entry.id] = entries.count == 1 ? answered : entry.rowKeys.compactMap { byKey[$0] }
        }
    }
}

extension NetworkState {
    /// Whether something that was in the way is no more.
    fileprivate func isBetter(than other: NetworkState) -> Bool {
        isPathUp && !other.isPathUp || isEnabled && !other.isEnabled
    }
}

extension QueueEntry {
    fileprivate var isUpdate: Bool {
        if case .update = operation { true } else { false }
    }
}

extension WireResponse {
    /// What an error answer says. The body of a success is not looked at: it may hold many rows.
    fileprivate var failure: ServerFailure {
        ServerFailure(status: status, body: (200..<300).contains(status) ? [] : body)
    }
}

extension ServerFailure {
    /// Whether a duplicate is one of this row's primary key, by PostgreSQL's own sentence. Where row level security makes
    /// it keep the key to itself, the usual name of the constraint tells, if the request held one row alone.
    fileprivate func isAbout(_ key: RowKey, _ keyColumns: [String], tableOfTheOnlyRow table: String?) -> Bool {
        guard keyColumns.count == 1 else { return false }
        if let details { return details == "Key (\(keyColumns[0]))=(\(key.text)) already exists." }
        return table.map { constraint == "\($0)_pkey" } ?? false
    }

    /// A write that may have been handled, cannot be sent again without being done twice, and names no row to ask for.
    package static let outcomeUnknown = ServerFailure(
        status: 0, code: outcomeUnknownCode, message: "it is not known whether the server did this write")

    /// The code of a write of which nobody knows whether the server did it. It is this package's own.
    public static let outcomeUnknownCode = "KZ002"

    /// An update or delete by key that the server accepted and that touched no row: the row is not there, its conditions
    /// did not hold, or row level security hides it.
    package static func noRowMatched(status: Int) -> ServerFailure {
        ServerFailure(status: status, code: noRowMatchedCode, message: "no row matched the write")
    }

    /// The code of a write that was accepted and touched no row. It is this package's own, since PostgREST has none.
    public static let noRowMatchedCode = "KZ001"
}
