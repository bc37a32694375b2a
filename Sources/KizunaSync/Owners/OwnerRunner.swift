internal import Foundation
package import KizunaCore
package import KizunaStore
internal import Synchronization

/// Runs the owner machine: opens and closes vaults, follows the session, and tells the engine.
///
/// State is guarded by one mutex. What the machine decides is put in a line under that mutex and told after it, one at
/// a time and in the machine's order, whichever threads the events come from.
package final class OwnerRunner: Sendable {
    /// What the listener is told.
    package enum Notice: Sendable {
        /// The former owner's rows are no longer to be shown.
        case ownerChanging(generation: Int)
        case storeOpened(OwnerStoreHandle)
        case storeFailed(SyncError)
        case credentials(Credentials)
        case softBlocked(reason: String)
    }

    /// What the runner needs of the disk.
    package struct Dependencies: Sendable {
        /// Opens an owner's store, which reports its changes in commit order.
        package var openStore:
            @Sendable (OwnerID, _ onChange: @escaping @Sendable (StoreChange) -> Void) throws(SyncError) -> OwnerStore
        /// Notes the current owner, and the previous owners whose rows are still to be removed, for the next start.
        package var remember: @Sendable (OwnerID, _ previousWithRows: [OwnerID]) -> Void

        package init(
            openStore:
                @escaping @Sendable (OwnerID, _ onChange: @escaping @Sendable (StoreChange) -> Void) throws(SyncError)
                -> OwnerStore,
            remember: @escaping @Sendable (OwnerID, _ previousWithRows: [OwnerID]) -> Void
        ) {
            self.openStore = openStore
            self.remember = remember
        }
    }

    private enum Action: Sendable {
        case tell(Notice)
        case open(Opening)
        case askForToken(generation: Int, after: Duration)
    }

    /// A change of vaults. Changes are made one after another, in the order of their generations.
    private struct Opening: Sendable {
        let owner: OwnerID
        let generation: Int
        let previous: OwnerStoreHandle?
    }

    private struct State {
        var machine: OwnerMachine
        var handle: OwnerStoreHandle?
        weak var listener: (any OwnerListener)?
        /// Vaults no longer served whose rows are still to be removed.
        var unsealed: [OwnerStoreHandle] = []
        /// Owners whose vaults could not be sealed: the next start tries again.
        var owed: [OwnerID] = []
        var effectQueue = EffectQueue<Action>()
        var tasks: [TaskTicket] = []
        /// Those that wait for a token or ask for one; of those that wait, the newest alone goes on to ask.
        var asks: [Int: TaskTicket?] = [:]
        var lastAsk = 0
        var isClosed = false
    }

    private let state: Mutex<State>
    /// Held while the note is written, so that the last one written is the newest.
    private let note = Mutex(())
    private let session: any SessionSource
    private let signOutPolicy: SignOutPolicy
    private let environment: SyncEnvironment
    private let dependencies: Dependencies
    private let openings: AsyncStream<Opening>
    private let openingsInput: AsyncStream<Opening>.Continuation
    /// Open once the session source has told its first state.
    package let hasBegun = AsyncGate()

    package init(
        lastOwner: OwnerID, policies: (identity: IdentityPolicy, signOut: SignOutPolicy), session: any SessionSource,
        environment: SyncEnvironment, dependencies: Dependencies
    ) {
        state = Mutex(State(machine: OwnerMachine(lastOwner: lastOwner, identityPolicy: policies.identity)))
        self.session = session
        signOutPolicy = policies.signOut
        self.environment = environment
        self.dependencies = dependencies
        (openings, openingsInput) = AsyncStream.makeStream()
    }

    /// Opens the first owner's store, so that a store that cannot be opened is an error of `create(_:)`.
    package func openFirstStore() throws(SyncError) {
        let (owner, generation) = state.withLock { ($0.machine.owner, $0.machine.generation) }
        let store = try openStore(owner, generation)
        let handle = OwnerStoreHandle(store: store, owner: owner, generation: generation)
        state.withLock { $0.handle = handle }
    }

    /// Announces the first store and begins to follow the session. `previousOwnersWithRows` are owners whose rows an
    /// earlier process left in their stores.
    package func start(listener: any OwnerListener, previousOwnersWithRows: [OwnerID]) {
        state.withLock { $0.listener = listener }
        if let handle { notify(.storeOpened(handle)) }
        let states = session.states()
        let following = environment.spawn { [weak self] in
            for await state in states {
                self?.step(.session(state))
                self?.hasBegun.open()
            }
            self?.hasBegun.open()
        }
        let opening = environment.spawn { [weak self, openings] in
            for owner in previousOwnersWithRows { await self?.removeRowsOfPreviousOwners(owner) }
            for await each in openings { await self?.open(each) }
        }
        state.withLock { $0.tasks += [following, opening] }
    }

    package var handle: OwnerStoreHandle? { state.withLock { $0.handle } }

    package var credentials: Credentials { state.withLock { $0.machine.credentials } }

    /// With what a request of this generation may go out; a former generation may send nothing.
    package func credentials(generation: Int) -> Credentials {
        state.withLock { $0.machine.generation == generation ? $0.machine.credentials : .unsettled }
    }

    package func tokenRejected(_ token: String) { step(.tokenRejected(token: token, now: environment.clock.now)) }

    package func networkReturned() { step(.networkReturned) }

    /// Tries to open the owner's vault again where that failed.
    package func retryOpeningStore() { step(.retryOpeningStore) }

    package var softBlockReason: String? { state.withLock { $0.machine.softBlockReason } }

    /// Ends a soft block and serves the session's own user.
    package func reset() { step(.reset) }

    /// Takes a state the app told, in line with those of the session source; with a generation, only while that one is
    /// the present.
    package func take(_ session: SessionState, generation: Int? = nil) {
        step(.session(session)) { generation == nil || $0.generation == generation }
    }

    /// Closes the open vault, and seals those that wait for it.
    package func close() async {
        step(.closed)
        let (handle, unsealed, tasks) = state.withLock { state in
            defer {
                state.handle = nil
                state.tasks = []
                state.asks = [:]
                state.isClosed = true
            }
            return (state.handle, state.unsealed, state.tasks + state.asks.values.compactMap(\.self))
        }
        hasBegun.open()
        openingsInput.finish()
        for task in tasks { task.cancel() }
        for previous in unsealed { await seal(previous) }
        await handle?.store.close()
    }

    // MARK: - The step

    private func step(_ event: OwnerMachine.Event, if isWanted: (OwnerMachine) -> Bool = { _ in true }) {
        let isMine = state.withLock { state in
            guard isWanted(state.machine) else { return false }
            return state.effectQueue.add(Self.actions(of: state.machine.handle(event), in: &state))
        }
        if isMine { performWhatWaits() }
    }

    /// What the machine's effects are to be done about; a vault that is no longer served is set aside at once.
    private static func actions(of effects: [OwnerMachine.Effect], in state: inout State) -> [Action] {
        var actions: [Action] = []
        for effect in effects {
            switch effect {
            case .open(let owner, let generation):
                let previous = state.handle
                state.handle = nil
                if let previous { state.unsealed.append(previous) }
                actions.append(.open(Opening(owner: owner, generation: generation, previous: previous)))
            case .credentials(let credentials): actions.append(.tell(.credentials(credentials)))
            case .askForToken(let generation, let wait):
                actions.append(.askForToken(generation: generation, after: wait))
            case .softBlocked(let reason): actions.append(.tell(.softBlocked(reason: reason)))
            case .close: break
            }
        }
        return actions
    }

    private func performWhatWaits() {
        while let next = state.withLock({ $0.effectQueue.next() }) { perform(next) }
    }

    private func perform(_ action: Action) {
        switch action {
        case .tell(let notice): notify(notice)
        case .open(let opening):
            // Before anything else: a process that ends now must not show the former owner's rows at its next start.
            writeNote()
            notify(.ownerChanging(generation: opening.generation))
            openingsInput.yield(opening)
        case .askForToken(let generation, let wait): askForToken(generation, after: wait)
        }
    }

    private func notify(_ notice: Notice) { state.withLock { $0.listener }?.ownerNotice(notice) }

    private func openStore(_ owner: OwnerID, _ generation: Int) throws(SyncError) -> OwnerStore {
        try dependencies.openStore(owner) { [weak self] change in
            self?.state.withLock { $0.listener }?.storeChanged(change, generation: generation)
        }
    }

    private func writeNote() {
        note.withLock { _ in
            let (owner, unsealed) = state.withLock { ($0.machine.owner, $0.unsealed.map(\.owner) + $0.owed) }
            dependencies.remember(owner, unsealed.filter { $0 != owner && $0 != .nobody })
        }
    }

    // MARK: - Vaults

    private func open(_ opening: Opening) async {
        let generation = opening.generation
        if let previous = opening.previous { await seal(previous) }
        guard state.withLock({ $0.machine.generation == generation }) else { return }
        do throws(SyncError) {
            let store = try openStore(opening.owner, generation)
            let handle = OwnerStoreHandle(store: store, owner: opening.owner, generation: generation)
            let isMine = state.withLock { state -> Bool? in
                guard state.machine.generation == generation, !state.isClosed else { return nil }
                state.handle = handle
                let actions = Self.actions(of: state.machine.handle(.storeOpened(generation: generation)), in: &state)
                return state.effectQueue.add([.tell(.storeOpened(handle))] + actions)
            }
            guard let isMine else { return await store.close() }
            if isMine { performWhatWaits() }
        } catch {
            let isMine = state.withLock { state in
                guard state.machine.generation == generation else { return false }
                let actions = Self.actions(of: state.machine.handle(.storeFailed(generation: generation)), in: &state)
                return state.effectQueue.add([.tell(.storeFailed(error))] + actions)
            }
            if isMine { performWhatWaits() }
        }
    }

    /// Leaves a former owner's vault as the policy says, and closes it.
    private func seal(_ previous: OwnerStoreHandle) async {
        let isSealed = previous.owner == .nobody ? true : await seal(previous.store)
        await previous.store.close()
        state.withLock { state in
            state.unsealed.removeAll { $0.generation == previous.generation }
            if !isSealed { state.owed.append(previous.owner) }
        }
        writeNote()
    }

    private func seal(_ store: OwnerStore) async -> Bool {
        do {
            try await store.seal(discarding: signOutPolicy == .discard)
            return true
        } catch  where error.code == .closed {
            // Somebody else is at it, or has done it.
            return true
        } catch {
            environment.log.log(LogLine(.error, "The former owner's rows could not be removed from the device"))
            return false
        }
    }

    /// Seals what a process left that ended too early. Generation 0 is nobody's: no news of it reach anybody.
    private func removeRowsOfPreviousOwners(_ owner: OwnerID) async {
        guard owner != state.withLock({ $0.machine.owner }) else { return }
        var isSealed = false
        do throws(SyncError) {
            let store = try openStore(owner, 0)
            isSealed = await seal(store)
            await store.close()
        } catch {
            environment.log.log(LogLine(.error, "The former owner's rows could not be removed from the device"))
        }
        if !isSealed { state.withLock { $0.owed.append(owner) } }
        writeNote()
    }

    private func askForToken(_ generation: Int, after delay: Duration) {
        let ask = state.withLock { state in
            state.lastAsk += 1
            state.asks[state.lastAsk] = .some(nil)
            return state.lastAsk
        }
        let ticket = environment.spawn { [weak self, environment] in
            do {
                if delay > .zero { try await environment.sleep(delay) }
            } catch {
                // Closed meanwhile.
                return
            }
            await self?.askForToken(generation, ask)
            self?.state.withLock { _ = $0.asks.removeValue(forKey: ask) }
        }
        state.withLock { state in
            // One that is done already is not kept.
            if state.asks[ask] != nil { state.asks[ask] = ticket }
            if state.isClosed { ticket.cancel() }
        }
    }

    private func askForToken(_ generation: Int, _ ask: Int) async {
        let isWanted = state.withLock { state in
            !state.isClosed && state.lastAsk == ask && state.machine.wantsToken(generation: generation)
        }
        guard isWanted else { return }
        do {
            // None for now: the session source tells when there is one again.
            guard let text = try await session.freshToken() else { return }
            let token = try AccessToken(text)
            step(
                .freshToken(
                    generation: generation, userID: token.userID, token: token.text,
                    jitter: environment.randomFraction()))
        } catch {
            step(.noFreshToken(generation: generation, jitter: environment.randomFraction()))
        }
    }
}

/// Hears of the owners and of the changes of their stores.
package protocol OwnerListener: AnyObject, Sendable {
    func ownerNotice(_ notice: OwnerRunner.Notice)
    /// A store committed a change. Called on the store's executor, in commit order.
    func storeChanged(_ change: StoreChange, generation: Int)
}
