internal import Foundation
package import KizunaCore
package import KizunaStore
internal import Synchronization

/// Runs the owner machine: opens and closes owner stores, follows the session, and notifies the engine.
///
/// One mutex guards the state. Effects are queued under it and performed outside it, one at a time and in the machine's
/// order.
package final class OwnerRunner: Sendable {
    /// A notification for the listener.
    package enum Notice: Sendable {
        /// From now on, no row of the previous owner may be shown.
        case ownerChanging(generation: Int)
        case storeOpened(OwnerStoreHandle)
        case storeFailed(SyncError)
        case credentials(Credentials)
        case softBlocked(reason: String)
    }

    /// The runner's access to the disk.
    package struct Dependencies: Sendable {
        /// Opens an owner's store, which reports its changes in commit order.
        package var openStore:
            @Sendable (OwnerID, _ onChange: @escaping @Sendable (StoreChange) -> Void) throws(SyncError) -> OwnerStore
        /// Persists the current owner, and the previous owners whose rows are still to be removed, for the next start.
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
        case notify(Notice)
        case open(Opening)
        case askForToken(generation: Int, after: Duration)
    }

    /// A change of the open store. Changes are made one after another, in the order of their generations.
    private struct Opening: Sendable {
        let owner: OwnerID
        let generation: Int
        let previous: OwnerStoreHandle?
    }

    private struct State {
        var machine: OwnerMachine
        var handle: OwnerStoreHandle?
        weak var listener: (any OwnerListener)?
        /// Stores that are no longer served and whose rows are still to be removed.
        var previousStores: [OwnerStoreHandle] = []
        /// Owners whose rows could not be removed: the next start tries again.
        var ownersWithRows: [OwnerID] = []
        var effectQueue = EffectQueue<Action>()
        /// Of the queued token requests only the newest starts.
        var lastTokenRequest = 0
        var isClosed = false
    }

    private enum Work: Hashable, Sendable {
        case followingSession
        case openingStores
        case tokenRequest(Int)
    }

    private let state: Mutex<State>
    /// Held while the owners are persisted, so that the last record on disk is the newest.
    private let persisting = Mutex(())
    private let tasks: TaskSet<Work>
    private let session: any SessionSource
    private let signOutPolicy: SignOutPolicy
    private let environment: SyncEnvironment
    private let dependencies: Dependencies
    private let openings: AsyncStream<Opening>
    private let openingsInput: AsyncStream<Opening>.Continuation
    /// Opens when the session source has delivered its first state.
    package let hasBegun = AsyncGate()

    package init(
        lastOwner: OwnerID, policies: (identity: IdentityPolicy, signOut: SignOutPolicy), session: any SessionSource,
        environment: SyncEnvironment, dependencies: Dependencies
    ) {
        state = Mutex(State(machine: OwnerMachine(lastOwner: lastOwner, identityPolicy: policies.identity)))
        self.session = session
        signOutPolicy = policies.signOut
        self.environment = environment
        tasks = TaskSet(in: environment)
        self.dependencies = dependencies
        (openings, openingsInput) = AsyncStream.makeStream()
    }

    /// Opens the first owner's store: a store that cannot be opened is an error of `create(_:)`.
    package func openFirstStore() throws(SyncError) {
        let (owner, generation) = state.withLock { ($0.machine.owner, $0.machine.generation) }
        let store = try openStore(owner, generation)
        let handle = OwnerStoreHandle(store: store, owner: owner, generation: generation)
        state.withLock { $0.handle = handle }
    }

    /// Announces the first store and starts to follow the session. `previousOwnersWithRows` are owners whose rows an
    /// earlier process left in their stores.
    package func start(listener: any OwnerListener, previousOwnersWithRows: [OwnerID]) {
        state.withLock { $0.listener = listener }
        if let handle { notify(.storeOpened(handle)) }
        let states = session.states()
        tasks.start(.followingSession) { [weak self] in
            for await state in states {
                self?.step(.session(state))
                self?.hasBegun.open()
            }
            self?.hasBegun.open()
        }
        tasks.start(.openingStores) { [weak self, openings] in
            for owner in previousOwnersWithRows { await self?.removeRowsOfPreviousOwners(owner) }
            for await each in openings { await self?.open(each) }
        }
    }

    package var handle: OwnerStoreHandle? { state.withLock { $0.handle } }

    package var credentials: Credentials { state.withLock { $0.machine.credentials } }

    /// Credentials for a request of this owner generation; `unsettled` for an earlier generation.
    package func credentials(generation: Int) -> Credentials {
        state.withLock { $0.machine.generation == generation ? $0.machine.credentials : .unsettled }
    }

    package func tokenRejected(_ token: String) { step(.tokenRejected(token: token, now: environment.clock.now)) }

    package func networkReturned() { step(.networkReturned) }

    /// Opens the owner's store again if that failed.
    package func retryOpeningStore() { step(.retryOpeningStore) }

    package var softBlockReason: String? { state.withLock { $0.machine.softBlockReason } }

    /// Ends a soft block and serves the session's own user.
    package func reset() { step(.reset) }

    /// Takes a session state from the app. With a generation, the state counts only while that generation is current.
    package func take(_ session: SessionState, generation: Int? = nil) {
        step(.session(session)) { generation == nil || $0.generation == generation }
    }

    /// Closes the open store, and removes the rows of the previous owners from theirs.
    package func close() async {
        step(.closed)
        let (handle, previousStores) = state.withLock { state in
            defer {
                state.handle = nil
                state.isClosed = true
            }
            return (state.handle, state.previousStores)
        }
        hasBegun.open()
        openingsInput.finish()
        tasks.close()
        for previous in previousStores { await leave(previous) }
        await handle?.store.close()
    }

    // MARK: - The step

    private func step(_ event: OwnerMachine.Event, if isWanted: (OwnerMachine) -> Bool = { _ in true }) {
        let isPerformer = state.withLock { state in
            guard isWanted(state.machine) else { return false }
            return state.effectQueue.add(Self.actions(of: state.machine.handle(event), in: &state))
        }
        if isPerformer { performEffects() }
    }

    /// Returns the actions for the machine's effects. A store that is no longer served leaves the state at once.
    private static func actions(of effects: [OwnerMachine.Effect], in state: inout State) -> [Action] {
        var actions: [Action] = []
        for effect in effects {
            switch effect {
            case .open(let owner, let generation):
                let previous = state.handle
                state.handle = nil
                if let previous { state.previousStores.append(previous) }
                actions.append(.open(Opening(owner: owner, generation: generation, previous: previous)))
            case .credentials(let credentials): actions.append(.notify(.credentials(credentials)))
            case .askForToken(let generation, let wait):
                actions.append(.askForToken(generation: generation, after: wait))
            case .softBlocked(let reason): actions.append(.notify(.softBlocked(reason: reason)))
            }
        }
        return actions
    }

    private func performEffects() {
        while let next = state.withLock({ $0.effectQueue.next() }) { perform(next) }
    }

    private func perform(_ action: Action) {
        switch action {
        case .notify(let notice): notify(notice)
        case .open(let opening):
            // First of all: a process that ends now must not show the previous owner's rows at its next start.
            persistOwners()
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

    private func persistOwners() {
        persisting.withLock { _ in
            let (owner, previous) = state.withLock {
                ($0.machine.owner, $0.previousStores.map(\.owner) + $0.ownersWithRows)
            }
            dependencies.remember(owner, previous.filter { $0 != owner && $0 != .nobody })
        }
    }

    // MARK: - Stores

    private func open(_ opening: Opening) async {
        let generation = opening.generation
        if let previous = opening.previous { await leave(previous) }
        guard state.withLock({ $0.machine.generation == generation }) else { return }
        do throws(SyncError) {
            let store = try openStore(opening.owner, generation)
            let handle = OwnerStoreHandle(store: store, owner: opening.owner, generation: generation)
            let isPerformer = state.withLock { state -> Bool? in
                guard state.machine.generation == generation, !state.isClosed else { return nil }
                state.handle = handle
                let actions = Self.actions(of: state.machine.handle(.storeOpened(generation: generation)), in: &state)
                return state.effectQueue.add([.notify(.storeOpened(handle))] + actions)
            }
            guard let isPerformer else { return await store.close() }
            if isPerformer { performEffects() }
        } catch {
            let isPerformer = state.withLock { state in
                guard state.machine.generation == generation else { return false }
                let actions = Self.actions(of: state.machine.handle(.storeFailed(generation: generation)), in: &state)
                return state.effectQueue.add([.notify(.storeFailed(error))] + actions)
            }
            if isPerformer { performEffects() }
        }
    }

    /// Removes a previous owner's rows as the sign-out policy demands, and closes the store.
    private func leave(_ previous: OwnerStoreHandle) async {
        let isDone = previous.owner == .nobody ? true : await removeRows(previous.store)
        await previous.store.close()
        state.withLock { state in
            state.previousStores.removeAll { $0.generation == previous.generation }
            if !isDone { state.ownersWithRows.append(previous.owner) }
        }
        persistOwners()
    }

    /// Returns whether the rows are removed, or another task removes them.
    private func removeRows(_ store: OwnerStore) async -> Bool {
        do {
            try await store.seal(discarding: signOutPolicy == .discard)
            return true
        } catch  where error.code == .closed {
            // Another task closed the store after it had removed the rows.
            return true
        } catch {
            environment.log.log(LogLine(.error, "Rows of a previous owner could not be removed from the device"))
            return false
        }
    }

    /// Removes rows that an earlier process left. Generation 0 is never current, so no listener uses its changes.
    private func removeRowsOfPreviousOwners(_ owner: OwnerID) async {
        guard owner != state.withLock({ $0.machine.owner }) else { return }
        var isDone = false
        do throws(SyncError) {
            let store = try openStore(owner, 0)
            isDone = await removeRows(store)
            await store.close()
        } catch {
            environment.log.log(LogLine(.error, "Rows of a previous owner could not be removed from the device"))
        }
        if !isDone { state.withLock { $0.ownersWithRows.append(owner) } }
        persistOwners()
    }

    private func askForToken(_ generation: Int, after delay: Duration) {
        let request = state.withLock { state in
            state.lastTokenRequest += 1
            return state.lastTokenRequest
        }
        tasks.start(.tokenRequest(request)) { [weak self, environment] in
            do {
                if delay > .zero { try await environment.sleep(delay) }
            } catch {
                // The runner was closed.
                return
            }
            await self?.askForToken(generation, request)
        }
    }

    private func askForToken(_ generation: Int, _ request: Int) async {
        let isWanted = state.withLock { state in
            !state.isClosed && state.lastTokenRequest == request && state.machine.wantsToken(generation: generation)
        }
        guard isWanted else { return }
        do {
            // Without a token, the session source sends a state when it has one.
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

/// Receives changes of the owner and of the open store.
package protocol OwnerListener: AnyObject, Sendable {
    func ownerNotice(_ notice: OwnerRunner.Notice)
    /// A store committed a change. Called on the store's executor, in commit order.
    func storeChanged(_ change: StoreChange, generation: Int)
}
