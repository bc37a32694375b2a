internal import KizunaCore
package import KizunaPostgREST
package import KizunaStore
internal import Synchronization

/// Runs one live read: feeds its two machines, does what they say, and hands snapshots to its collectors.
///
/// State is guarded by one mutex; effects run after it is released. Both machines stand behind the same mutex since a
/// stored answer changes rows and refresh state at once, and collectors must see that as one emission. Snapshots are
/// put into the mailboxes under it too, so that no collector sees an older one after a newer one.
package final class LiveReadRunner: Sendable {
    private struct State {
        var read: LiveReadMachine
        var refresh: RefreshMachine
        var effectQueue = EffectQueue<RefreshMachine.Effect>()
        var gate: EmissionGate
        var handle: OwnerStoreHandle?
        /// Handles of an older generation come too late.
        var generation = 0
        var network: NetworkState
        var isSessionSettled: Bool
        var ownTick: LogicalTime?
        var hasBegun = false
        var shown: RawSnapshot?
        var collectors: [Int: LatestValueChannel<RawSnapshot>] = [:]
        var lastCollector = 0
        var timers: [Int: TimerTicket] = [:]
        var sends: [Int: TaskTicket] = [:]
        var sessionTimer: TimerTicket?
        /// Why the last attempt brought no rows; nil after one that did.
        var lastFailure: LastFailure?
        /// Those who wait for the outcome of the refresh under way.
        var watchers: [Int: LatestValueChannel<Status>] = [:]
        var end: Result<Void, any Error>?

        /// A read that has not loaded its rows yet asks as soon as it has.
        var isRefreshing: Bool { end == nil && (!hasBegun || refresh.stage != .idle) }
    }

    private enum LastFailure: Sendable {
        case failure(SyncError)
        /// The server answered, and it is asked again shortly: the table had changed meanwhile.
        case superseded
        /// The server answered, and its answer is not believed.
        case untrusted

        init?(_ event: RefreshMachine.Event) {
            switch event {
            case .failed(_, let failure, _), .tokenRejected(_, let failure): self = .failure(failure)
            case .responseRejected: self = .superseded
            case .responseUntrusted: self = .untrusted
            default: return nil
            }
        }
    }

    /// How the refresh stands for one who waits for its outcome.
    private enum Status: Sendable {
        case asking
        case answered
        case failed(SyncError)
        case held
    }

    package let cacheKey: String
    package let request: TableRequest
    package let strategy: SequenceReadStrategy
    private let context: RequestContext
    private let table: TableID
    private let state: Mutex<State>

    package init(
        request: TableRequest, strategy: SequenceReadStrategy, context: RequestContext, network: NetworkState,
        isSessionSettled: Bool
    ) {
        self.request = request
        self.strategy = strategy
        self.context = context
        cacheKey = request.cacheKey
        table = TableID(schema: request.schema, name: request.table)
        let schema = context.schemas[table]
        let shape = QueryShape(request: request, types: schema.types, keyColumns: schema.keyColumns)
        state = Mutex(
            State(
                read: LiveReadMachine(shape: shape, cacheKey: request.cacheKey) { [schemas = context.schemas] in
                    schemas[$0]
                },
                refresh: RefreshMachine(
                    isPathUp: network.isPathUp, isEnabled: network.isEnabled, isSessionSettled: isSessionSettled,
                    stallsAtFirstFailure: strategy == .networkFirstThenCache),
                gate: EmissionGate(strategy), network: network, isSessionSettled: isSessionSettled))
    }

    // MARK: - Collectors

    /// Adds a collector; nil when the read has ended. It gets what is shown now at once.
    package func join() -> (id: Int, channel: LatestValueChannel<RawSnapshot>)? {
        state.withLock { state in
            guard state.end == nil else { return nil }
            let channel = LatestValueChannel<RawSnapshot>()
            state.lastCollector += 1
            state.collectors[state.lastCollector] = channel
            if let shown = state.shown { channel.put(shown) }
            return (state.lastCollector, channel)
        }
    }

    /// Removes a collector and says whether it was the last.
    package func leave(_ id: Int) -> Bool {
        state.withLock { state in
            state.collectors[id] = nil
            return state.collectors.isEmpty
        }
    }

    /// Ends the read for all its collectors.
    package func end(_ end: Result<Void, any Error> = .success(())) {
        step { state in
            state.end = end
            return []
        }
    }

    // MARK: - Inputs

    /// A vault is open for this read: what it holds is loaded, in line with its changes.
    package func storeOpened(_ handle: OwnerStoreHandle) {
        let isNew = state.withLock { state in
            guard state.end == nil, handle.generation >= state.generation,
                state.handle?.generation != handle.generation
            else { return false }
            state.generation = handle.generation
            state.handle = handle
            return true
        }
        guard isNew else { return }
        let embedding = state.withLock { $0.read.embedding }
        context.environment.spawn { [self] in
            do {
                try await handle.store.deliverSnapshot(
                    cacheKey: cacheKey, table: table, embedding: embedding, usedAt: context.environment.wallClock()
                ) { image in loaded(image, generation: handle.generation) }
            } catch {
                // A store that was closed has a successor, or the client ends the read itself.
                guard (error as? SyncError)?.code != .closed,
                    state.withLock({ $0.handle?.generation == handle.generation })
                else { return }
                end(.failure(error))
            }
        }
    }

    /// The owner changed: what was shown is dropped at once.
    package func ownerChanged(generation: Int) {
        step { state in
            guard generation > state.generation else { return [] }
            state.generation = generation
            state.handle = nil
            state.read.ownerChanged()
            state.ownTick = nil
            guard strategy != .cacheOnly, state.hasBegun else { return [] }
            return state.refresh.handle(.ownerChanged)
        }
    }

    package func storeChanged(_ change: StoreChange, generation: Int) {
        step { state in
            guard state.handle?.generation == generation, concerns(change, state.read) else { return [] }
            let consequence = state.read.changed(change, ownResponse: state.ownTick)
            guard strategy != .cacheOnly else { return [] }
            var effects: [RefreshMachine.Effect] = []
            if consequence.isCleared { effects += state.refresh.handle(.cleared) }
            if consequence.isAnswered, let attempt = state.refresh.attempt {
                state.gate.answered()
                effects += state.refresh.handle(.responseStored(attempt: attempt))
            }
            if consequence.becameStale { effects += state.refresh.handle(.needed) }
            return effects
        }
    }

    package func networkChanged(_ network: NetworkState) {
        refresh { state in
            let before = state.network
            state.network = network
            var effects: [RefreshMachine.Effect] = []
            if network.isPathUp != before.isPathUp {
                effects += state.refresh.handle(.pathChanged(isUp: network.isPathUp))
            }
            if network.isEnabled != before.isEnabled {
                effects += state.refresh.handle(.networkSwitched(isEnabled: network.isEnabled))
            }
            return effects
        }
    }

    package func sessionChanged(isSettled: Bool) {
        refresh { state in
            state.isSessionSettled = isSettled
            restartSessionTimer(&state)
            return state.refresh.handle(.sessionChanged(isSettled: isSettled))
        }
    }

    /// What waits is tried now; unless the app itself wishes it, not before the server wants to be asked again.
    package func hurry(isAppsWish: Bool) {
        refresh { $0.refresh.handle(isAppsWish ? .woken : .hurried) }
    }

    /// Whether the read wants rows of the server by itself: it asks for them, is about to, or waits to be allowed to.
    package var isRefreshing: Bool { state.withLock { $0.isRefreshing } }

    /// Returns when the refresh under way, if there is one, has its answer; throws why it has none.
    package func untilAnswered() async throws {
        let channel = LatestValueChannel<Status>()
        let id = state.withLock { state in
            state.lastCollector += 1
            state.watchers[state.lastCollector] = channel
            channel.put(status(state))
            return state.lastCollector
        }
        defer { state.withLock { $0.watchers[id] = nil } }
        while let status = try await channel.next() {
            switch status {
            case .asking: continue
            case .answered: return
            case .failed(let error): throw error
            case .held:
                throw SyncError(
                    .sessionNotSettled, "There is no token of the store's user; the live read waits for one.",
                    table: request.table)
            }
        }
    }

    private func status(_ state: State) -> Status {
        guard state.isRefreshing else { return .answered }
        switch (state.refresh.stage, state.lastFailure) {
        case (.held, _) where !state.network.isEnabled:
            return .failed(
                SyncError(.networkDisabled, "The network is switched off; the live read waits.", table: request.table))
        case (.held, _) where state.handle != nil && state.hasBegun: return .held
        case (.waiting, .failure(let error)): return .failed(error)
        case (.waiting, .untrusted): return .answered
        default: return .asking
        }
    }

    private func concerns(_ change: StoreChange, _ read: LiveReadMachine) -> Bool {
        change.isCleared || change.lists[cacheKey] != nil || change.queueTables.contains(table)
            || !change.unrejected.isEmpty || read.embedding.map { change.queueTables.contains(where: $0) } ?? false
    }

    private func loaded(_ image: CachedQuerySnapshot, generation: Int) {
        step { state in
            guard state.handle?.generation == generation else { return [] }
            state.read.loaded(image)
            guard strategy != .cacheOnly else { return [] }
            state.hasBegun = true
            restartSessionTimer(&state)
            return state.refresh.handle(.needed)
        }
    }

    private func refresh(_ body: (inout State) -> [RefreshMachine.Effect]) {
        guard strategy != .cacheOnly else { return }
        step(body)
    }

    // MARK: - The step

    /// Takes one input: the machines decide and the collectors are told under the lock, effects follow after it. An
    /// ended read takes nothing.
    private func step(_ body: (inout State) -> [RefreshMachine.Effect]) {
        let isMine = state.withLock { state -> Bool in
            guard state.end == nil else { return false }
            var effects = body(&state)
            if state.end == nil { rule(&state) }
            if let end = state.end {
                effects += state.refresh.handle(.ended)
                finish(&state, end)
            } else {
                tell(&state)
                for watcher in state.watchers.values { watcher.put(status(state)) }
            }
            return state.effectQueue.add(effects)
        }
        guard isMine else { return }
        while let effect = state.withLock({ $0.effectQueue.next() }) { perform(effect) }
    }

    private func finish(_ state: inout State, _ end: Result<Void, any Error>) {
        for channel in state.collectors.values { channel.finish(end) }
        state.collectors = [:]
        for watcher in state.watchers.values { watcher.finish() }
        state.handle = nil
        state.sessionTimer?.cancel()
        state.sessionTimer = nil
    }

    private func tell(_ state: inout State) {
        guard state.gate.isOpen, state.read.isLive || state.shown != nil else { return }
        let next = state.read.snapshot(refresh: state.refresh.state, isCacheOnly: strategy == .cacheOnly)
        guard next != state.shown else { return }
        state.shown = next
        for channel in state.collectors.values { channel.put(next) }
    }

    /// A read that asks the server first shows its rows, or fails, when it learns that the network is down.
    private func rule(_ state: inout State) {
        guard !state.gate.isOpen, state.read.isLive, state.hasBegun, state.refresh.state == .paused else { return }
        let decision = state.gate.paused(isDisabled: !state.network.isEnabled, hasRows: state.read.hasRows)
        if case .fail(let error) = decision { state.end = .failure(error) }
    }

    private func perform(_ effect: RefreshMachine.Effect) {
        switch effect {
        case .send(let attempt): send(attempt)
        case .cancelSend(let attempt):
            state.withLock { $0.sends.removeValue(forKey: attempt) }?.cancel()
        case .startTimer(let timer, let delay):
            let ticket = context.environment.clock.schedule(after: delay) { [weak self] in
                self?.step { state in
                    state.timers[timer] = nil
                    return state.refresh.handle(.timerFired(timer: timer))
                }
            }
            state.withLock { $0.timers[timer] = ticket }
        case .cancelTimer(let timer):
            state.withLock { $0.timers.removeValue(forKey: timer) }?.cancel()
        case .publish: break
        }
    }

    /// Runs while a read that asks the server first has shown nothing and the session has not settled.
    private func restartSessionTimer(_ state: inout State) {
        state.sessionTimer?.cancel()
        state.sessionTimer = nil
        guard state.hasBegun, !state.gate.isOpen, !state.isSessionSettled else { return }
        state.sessionTimer = context.environment.clock.schedule(after: RequestContext.sessionWait) { [weak self] in
            self?.step { state in
                if !state.isSessionSettled { state.gate.sessionWaited(hasRows: state.read.hasRows) }
                return []
            }
        }
    }

    // MARK: - Asking

    private func send(_ attempt: Int) {
        let handle = state.withLock { state in state.refresh.attempt == attempt ? state.handle : nil }
        guard let handle else { return }
        let ticket = context.environment.spawn { [self] in
            let response = await ask(attempt, handle)
            step { state in
                state.sends[attempt] = nil
                guard state.handle?.generation == handle.generation, state.refresh.attempt == attempt else { return [] }
                return take(response.event, &state)
            }
            if let token = response.rejectedToken { context.tokenRejected(token) }
        }
        let isCurrent = state.withLock { state in
            guard state.refresh.attempt == attempt else { return false }
            state.sends[attempt] = ticket
            return true
        }
        if !isCurrent { ticket.cancel() }
    }

    /// Takes the outcome of the attempt that is out.
    private func take(_ event: RefreshMachine.Event?, _ state: inout State) -> [RefreshMachine.Effect] {
        guard let event else { return [] }
        state.lastFailure = LastFailure(event)
        switch event {
        case .responseStored:
            // Another request of this query was answered later and stored before: as fresh as this one.
            state.gate.answered()
            state.read.confirmed()
        case .failed(_, let failure, _):
            if case .fail(let error) = state.gate.failed(failure, hasRows: state.read.hasRows) {
                state.end = .failure(error)
            }
        case .tokenRejected(_, let failure) where state.refresh.isTokenRejectedAgain:
            if case .fail(let error) = state.gate.failed(failure, hasRows: state.read.hasRows) {
                state.end = .failure(error)
            }
        default: break
        }
        return state.refresh.handle(event)
    }

    private func ask(
        _ attempt: Int, _ handle: OwnerStoreHandle
    ) async -> (event: RefreshMachine.Event?, rejectedToken: String?) {
        do {
            let outcome = try await ReadExchange.run(request, cacheKey: cacheKey, in: context, handle: handle) {
                logicalTime in
                state.withLock { if $0.refresh.attempt == attempt { $0.ownTick = logicalTime } }
            }
            switch outcome {
            case .stored:
                await context.evictCachedQueries(handle)
                return (.responseStored(attempt: attempt), nil)
            case .rejected: return (.responseRejected(attempt: attempt), nil)
            case .untrusted: return (.responseUntrusted(attempt: attempt), nil)
            case .outdated: return (nil, nil)
            // The news of it is on its way, or has been overtaken by that of a new session: then it is asked again.
            case .unsettled: return (.responseRejected(attempt: attempt), nil)
            }
        } catch let failure as Gateway.ReadFailure {
            if let token = failure.rejectedToken {
                return (.tokenRejected(attempt: attempt, failure: failure.error), token)
            }
            return (.failed(attempt: attempt, failure: failure.error, retryAfter: failure.error.retryAfter), nil)
        } catch let error as SyncError {
            return (.failed(attempt: attempt, failure: error, retryAfter: nil), nil)
        } catch {
            // Cancelled by this runner: nobody waits for it. By anyone else: no answer came.
            guard !Task.isCancelled else { return (nil, nil) }
            let failure = SyncError(
                .connectivity, "The request was given up before an answer came; it is tried again.",
                table: request.table, underlying: error)
            return (.failed(attempt: attempt, failure: failure, retryAfter: nil), nil)
        }
    }
}
