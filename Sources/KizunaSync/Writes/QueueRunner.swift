internal import KizunaCore
internal import KizunaPostgREST
package import KizunaStore
internal import Synchronization

/// Runs the queue of one store: performs the effects of its machine and turns their results into events. It decides
/// nothing.
///
/// State is guarded by one mutex; effects run in order after it is released. A runner lives as long as its store is
/// open. A result that comes after the end changes nothing.
package final class QueueRunner: Sendable {
    struct State {
        var machine: QueueMachine
        var network: NetworkState
        var effectQueue = EffectQueue<QueueMachine.Effect>()
        /// Whether the mutations found in the store were taken up; changes before that are part of them.
        var hasStarted = false
        /// The last token that the server did not accept for a mutation.
        var rejectedToken: String?
        /// Open when a failed send is persisted; a later send must not be persisted before it.
        var pendingNotes: [AsyncGate] = []
        /// The rows of accepted requests, until they are persisted.
        var responses: [Int: FlightResponse] = [:]
        var pause = ServerPause()
        var lastTask = 0
    }

    let handle: OwnerStoreHandle
    let context: RequestContext
    let lease: LeaseRenewal
    let state: Mutex<State>
    private let timers: TimerSet
    private let tasks: TaskSet<Int>
    private let watchers = QueueWatchers()
    private let onState: @Sendable (QueueMachine.QueueState) -> Void

    package init(
        handle: OwnerStoreHandle, context: RequestContext, network: NetworkState, isSessionReady: Bool,
        onState: @escaping @Sendable (QueueMachine.QueueState) -> Void = { _ in }
    ) {
        self.onState = onState
        self.handle = handle
        self.context = context
        lease = LeaseRenewal(store: handle.store, environment: context.environment)
        timers = TimerSet(clock: context.environment.clock)
        tasks = TaskSet(in: context.environment)
        state = Mutex(
            State(
                machine: QueueMachine(
                    isPathUp: network.isPathUp, isEnabled: network.isEnabled, isSessionReady: isSessionReady),
                network: network))
    }

    // MARK: - Inputs

    /// Takes up the mutations found when the store was opened, in order with its changes.
    package func start() {
        context.environment.spawn { [self] in
            do {
                try await handle.store.deliverPending { mutations in
                    state.withLock { $0.hasStarted = true }
                    step(.queued(mutations.map(item)))
                }
            } catch {
                log(.error, "The queue could not be read; its mutations wait for the next start", error)
            }
        }
    }

    package func storeChanged(_ change: StoreChange, generation: Int) {
        guard generation == handle.generation, state.withLock({ $0.hasStarted }) else { return }
        // The lease comes first, so that nothing is started while another process holds it.
        switch change.drainer {
        case .other(let remaining): step(.leaseHeldByOther(remaining))
        case .nobodyElse: step(.leaseHeldByOther(nil))
        case nil: break
        }
        if change.isOthers {
            for mutation in change.updated { step(.rewritten(item(mutation))) }
        }
        // The outcomes of this runner's own requests reach the machine when their commit returns.
        let left = change.ended.filter { change.isOthers || $0.fate == .withdrawn }.map(\.id)
        if !left.isEmpty { step(.withdrawn(left)) }
        for mutation in change.rewritten { step(.rewritten(item(mutation))) }
        if !change.queued.isEmpty { step(.queued(change.queued.map(item))) }
    }

    package func networkChanged(_ network: NetworkState) {
        let before = state.withLock { state in
            defer { state.network = network }
            if network.isBetter(than: state.network) { state.pause.end() }
            return state.network
        }
        // The switch first: when it is off, a path that is up must not start anything.
        if network.isEnabled != before.isEnabled { step(.networkSwitched(isEnabled: network.isEnabled)) }
        if network.isPathUp != before.isPathUp { step(.pathChanged(isUp: network.isPathUp)) }
    }

    package func sessionChanged(isReady: Bool) { step(.sessionChanged(isReady: isReady)) }

    /// Tries at once whatever waits, also when the server asked for a pause.
    package func retryNow() {
        state.withLock { $0.pause.end() }
        step(.retryRequested(respectingRetryAfter: false))
    }

    /// Tries at once whatever waits and returns when the queue is empty. Throws when it cannot go on at the moment. A pause
    /// that the server asked for is kept: then nothing is sent, and the error says how long it lasts.
    package func drain() async throws {
        let (id, channel) = watchers.add()
        defer { watchers.remove(id) }
        step(.retryRequested(respectingRetryAfter: true))
        channel.put(state.withLock { $0.machine.state })
        while let now = try await channel.next() {
            switch now {
            case .idle: return
            case .draining: continue
            case .waitingForNetwork where !state.withLock({ $0.machine.isNetworkEnabled }):
                throw SyncError(.networkDisabled, "The network is switched off; the writes wait.")
            case .waitingForNetwork, .retrying:
                let now = context.environment.clock.now
                throw SyncError(
                    .connectivity, "The server could not be reached; the writes wait and are tried again.",
                    retryAfter: state.withLock { $0.pause.remaining(at: now) })
            case .waitingForSession:
                throw SyncError(.sessionNotSettled, "There is no token of the store's user; the writes wait for one.")
            }
        }
        throw SyncError(.closed, "The client was closed, or the owner changed, before the queue was empty.")
    }

    package func end() {
        step(.ended)
        lease.end()
        watchers.end()
        tasks.close()
    }

    func item(_ mutation: QueuedMutation) -> QueueItem {
        let schema = context.schemas[mutation.table]
        var parents: [QueueItem.Token] = []
        switch mutation.operation {
        case .insert(let row), .upsert(let row, _, _), .update(let row, _):
            for (column, table) in schema.references.sorted(by: { $0.key < $1.key }) {
                guard let value = row.member(column)?.scalarText else { continue }
                parents.append(.parent(table, RowKey(components: [value])))
            }
        case .delete: break
        }
        return QueueItem(mutation, keyColumns: schema.keyColumns, parents: parents)
    }

    // MARK: - The step

    func step(_ event: QueueMachine.Event) {
        let isMine = state.withLock { $0.effectQueue.add($0.machine.handle(event)) }
        guard isMine else { return }
        while let effect = state.withLock({ $0.effectQueue.next() }) { perform(effect) }
    }

    private func perform(_ effect: QueueMachine.Effect) {
        switch effect {
        case .send(let flight, let ids, let returnsRows):
            let notes = state.withLock { $0.pendingNotes }
            run {
                for note in notes { await note.wait() }
                await self.send(flight, ids, returnsRows: returnsRows)
            }
        case .resend(let flight, let ids): run { await self.resend(flight, ids) }
        case .lookUp(let flight, let ids, let purpose): run { await self.lookUp(flight, ids, purpose) }
        case .commitDelivered(let flight, let ids): run { await self.commitDelivered(flight, ids) }
        case .commitRejected(let flight, let id, let dependants, let failure):
            run { await self.commitRejected(flight, id, dependants, failure) }
        case .recordFailure(let ids, let maybeSent, let reason): recordFailure(ids, maybeSent, reason)
        case .startTimer(let timer, let delay):
            timers.start(timer, after: delay) { [weak self] in self?.step(.timerFired(timer: timer)) }
        case .cancelTimer(let timer): timers.cancel(timer)
        case .requestSession: requestSession()
        case .publish(let next):
            onState(next)
            watchers.publish(next)
        }
    }

    private func run(_ body: @escaping @Sendable () async -> Void) {
        let task = state.withLock { state in
            state.lastTask += 1
            return state.lastTask
        }
        tasks.start(task, body)
    }

    /// Reports the token that was not accepted. When a newer one came while the response was on its way, the queue goes on
    /// with that.
    private func requestSession() {
        guard let rejected = state.withLock({ $0.rejectedToken }) else { return }
        context.tokenRejected(rejected)
        if case .token(let token) = context.credentials(generation: handle.generation), token != rejected {
            step(.sessionChanged(isReady: true))
        }
    }

    /// Looks up rows as this queue's owner sees them.
    var lookup: RowLookup { RowLookup(context: context, generation: handle.generation) }

    var jitter: Double { context.environment.randomFraction() }

    func log(_ severity: LogLine.Severity, _ message: StaticString, _ error: any Error) {
        let code = (error as? SyncError)?.code.rawValue ?? "other"
        context.environment.log.log(LogLine(severity, message, [.error: code]))
    }
}

extension NetworkState {
    /// Whether an obstacle of the other state is gone.
    fileprivate func isBetter(than other: NetworkState) -> Bool {
        isPathUp && !other.isPathUp || isEnabled && !other.isEnabled
    }
}
