internal import KizunaCore
package import KizunaPostgREST
package import KizunaStore
internal import Synchronization

/// Runs one live read: feeds its two machines, does what they say, and hands snapshots to its collectors.
///
/// State is guarded by one mutex; effects run after it is released, in order. Both machines stand behind the same
/// mutex since a stored answer changes rows and refresh state at once, and collectors must see that as one emission.
package final class LiveReadRunner: Sendable {
    private struct State {
        var read: LiveReadMachine
        var refresh: RefreshMachine
        var gate: EmissionGate
        var handle: VaultHandle?
        /// Handles of an older generation come too late.
        var generation = 0
        var isDisabled: Bool
        var ownTick: Tick?
        var hasBegun = false
        var shown: RawSnapshot?
        var collectors: [Int: LatestMailbox<RawSnapshot>] = [:]
        var lastCollector = 0
        var timers: [Int: TimerTicket] = [:]
        var sends: [Int: TaskTicket] = [:]
        var sessionTimer: TimerTicket?
        var end: Result<Void, any Error>?
    }

    package let cacheKey: String
    private let request: TableRequest
    private let strategy: SequenceReadStrategy
    private let context: any ReadContext
    private let table: TableID
    private let state: Mutex<State>

    package init(
        request: TableRequest, strategy: SequenceReadStrategy, context: any ReadContext, network: NetworkState,
        isSessionSettled: Bool
    ) {
        self.request = request
        self.strategy = strategy
        self.context = context
        cacheKey = request.cacheKey
        table = TableID(schema: request.schema, name: request.table)
        let facts = context.tables(table)
        let shape = ListShape(request: request, types: facts.types, keyColumns: facts.keyColumns)
        state = Mutex(
            State(
                read: LiveReadMachine(shape: shape, cacheKey: request.cacheKey),
                refresh: RefreshMachine(
                    isPathUp: network.isPathUp, isEnabled: network.isEnabled, isSessionSettled: isSessionSettled,
                    stallsAtFirstFailure: strategy == .networkFirstThenCache),
                gate: EmissionGate(strategy), isDisabled: !network.isEnabled))
    }

    // MARK: - Collectors

    /// Adds a collector; nil when the read has ended. It gets what is shown now at once.
    package func join() -> (id: Int, mailbox: LatestMailbox<RawSnapshot>)? {
        state.withLock { state in
            guard state.end == nil else { return nil }
            let mailbox = LatestMailbox<RawSnapshot>()
            state.lastCollector += 1
            state.collectors[state.lastCollector] = mailbox
            if let shown = state.shown { mailbox.put(shown) }
            return (state.lastCollector, mailbox)
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
            guard state.end == nil else { return [] }
            state.end = end
            return state.refresh.handle(.ended)
        }
    }

    // MARK: - Inputs

    /// A vault is open for this read: what it holds is loaded, in line with its changes.
    package func vaultOpened(_ handle: VaultHandle) {
        let isNew = state.withLock { state in
            guard handle.generation >= state.generation, state.handle?.generation != handle.generation else {
                return false
            }
            state.generation = handle.generation
            state.handle = handle
            return true
        }
        guard isNew else { return }
        context.environment.spawn { [self] in
            do {
                try await handle.vault.deliverImage(
                    cacheKey: cacheKey, table: table, usedAt: context.environment.wallClock()
                ) { image in loaded(image, generation: handle.generation) }
            } catch {
                guard state.withLock({ $0.handle?.generation == handle.generation }) else { return }
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

    package func vaultChanged(_ change: VaultChange, generation: Int) {
        guard concerns(change) else { return }
        step { state in
            guard state.handle?.generation == generation else { return [] }
            let consequence = state.read.changed(change, ownAnswer: state.ownTick)
            guard strategy != .cacheOnly else { return [] }
            var effects: [RefreshMachine.Effect] = []
            if consequence.isCleared { effects += state.refresh.handle(.cleared) }
            if consequence.isAnswered, let attempt = state.refresh.attempt {
                state.gate.answered()
                effects += state.refresh.handle(.answerStored(attempt: attempt))
            }
            if consequence.becameStale { effects += state.refresh.handle(.needed) }
            return effects
        }
    }

    package func networkChanged(_ network: NetworkState) {
        refresh { state in
            state.isDisabled = !network.isEnabled
            return state.refresh.handle(.pathChanged(isUp: network.isPathUp))
                + state.refresh.handle(.networkSwitched(isEnabled: network.isEnabled))
        }
    }

    package func sessionChanged(isSettled: Bool) {
        refresh { $0.refresh.handle(.sessionChanged(isSettled: isSettled)) }
    }

    package func foregrounded() {
        refresh { $0.refresh.handle(.foregrounded) }
    }

    private func concerns(_ change: VaultChange) -> Bool {
        change.isCleared || change.lists[cacheKey] != nil || change.queueTables.contains(table)
    }

    private func loaded(_ image: ListImage, generation: Int) {
        step { state in
            guard state.handle?.generation == generation else { return [] }
            state.read.loaded(image)
            guard strategy != .cacheOnly else { return [] }
            if !state.hasBegun {
                state.hasBegun = true
                if !state.gate.isOpen { startSessionTimer(&state) }
            }
            return state.refresh.handle(.needed)
        }
    }

    private func refresh(_ body: (inout State) -> [RefreshMachine.Effect]) {
        guard strategy != .cacheOnly else { return }
        step(body)
    }

    // MARK: - The step

    /// Takes one input: the machines decide under the lock, snapshots and effects follow after it.
    private func step(_ body: (inout State) -> [RefreshMachine.Effect]) {
        let (effects, told) = state.withLock { state in
            let effects = body(&state)
            return (effects, deliveries(&state))
        }
        for deliver in told { deliver() }
        for effect in effects { perform(effect) }
    }

    /// What collectors are to be told now.
    private func deliveries(_ state: inout State) -> [@Sendable () -> Void] {
        if state.end == nil { rule(&state) }
        if let end = state.end {
            let collectors = state.collectors.values
            state.collectors = [:]
            state.handle = nil
            state.sessionTimer?.cancel()
            return collectors.map { mailbox in { mailbox.finish(end) } }
        }
        guard state.gate.isOpen, state.read.isLive || state.shown != nil else { return [] }
        let next = state.read.snapshot(refresh: state.refresh.state, isCacheOnly: strategy == .cacheOnly)
        guard next != state.shown else { return [] }
        state.shown = next
        return state.collectors.values.map { mailbox in { mailbox.put(next) } }
    }

    /// A read that asks the server first shows its rows, or fails, when it learns that the network is down.
    private func rule(_ state: inout State) {
        guard !state.gate.isOpen, state.read.isLive, state.hasBegun, state.refresh.state == .paused else { return }
        let ruling = state.gate.paused(isDisabled: state.isDisabled, hasRows: state.read.hasRows)
        if case .fail(let error) = ruling { state.end = .failure(error) }
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

    // MARK: - Asking

    private func send(_ attempt: Int) {
        guard let handle = state.withLock({ $0.handle }) else { return }
        let ticket = context.environment.spawn { [self] in
            let event = await ask(attempt, handle)
            step { state in
                state.sends[attempt] = nil
                guard let event, state.handle?.generation == handle.generation else { return [] }
                if case .answerStored = event {
                    state.gate.answered()
                    state.read.confirmed()
                }
                if case .failed(attempt, let failure, _) = event, state.refresh.attempt == attempt {
                    if case .fail(let error) = state.gate.failed(failure, hasRows: state.read.hasRows) {
                        state.end = .failure(error)
                        return state.refresh.handle(.ended)
                    }
                }
                return state.refresh.handle(event)
            }
        }
        state.withLock { state in
            if state.refresh.attempt == attempt { state.sends[attempt] = ticket }
        }
    }

    private func ask(_ attempt: Int, _ handle: VaultHandle) async -> RefreshMachine.Event? {
        do {
            let outcome = try await ReadExchange.run(request, cacheKey: cacheKey, in: context, handle: handle) { tick in
                state.withLock { $0.ownTick = tick }
            }
            switch outcome {
            case .stored: return .answerStored(attempt: attempt)
            case .refused: return .answerRefused(attempt: attempt)
            case .untrusted: return .answerUntrusted(attempt: attempt)
            case .outdated: return nil
            }
        } catch let failure as Gateway.ReadFailure {
            if let token = failure.rejectedToken { context.tokenRejected(token) }
            return .failed(attempt: attempt, failure: failure.error, retryAfter: failure.retryAfter)
        } catch let error as SyncError {
            return .failed(attempt: attempt, failure: error, retryAfter: nil)
        } catch {
            return nil
        }
    }

    private func startSessionTimer(_ state: inout State) {
        state.sessionTimer = context.environment.clock.schedule(after: .seconds(10)) { [weak self] in
            self?.step { state in
                _ = state.gate.sessionWaited(hasRows: state.read.hasRows)
                return []
            }
        }
    }
}
