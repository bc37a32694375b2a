internal import Foundation
package import KizunaCore
package import KizunaStore
internal import Synchronization

/// Runs the owner machine: opens and closes vaults, follows the session, and tells the engine.
package final class OwnerRunner: Sendable {
    /// What the engine is told.
    package enum Notice: Sendable {
        /// The former owner's rows are no longer to be shown.
        case ownerChanging(generation: Int)
        case vaultOpened(VaultHandle)
        case vaultFailed(SyncError)
        case credentials(OwnerMachine.Credentials)
        case softBlocked(reason: String)
    }

    private struct State {
        var machine: OwnerMachine
        var outbox = Outbox<OwnerMachine.Effect>()
        /// Vaults to be closed, by the generation that follows.
        var former: [Int: VaultHandle] = [:]
        var handle: VaultHandle?
        var tasks: [TaskTicket] = []
        var isClosed = false
    }

    private let state: Mutex<State>
    private let session: any SessionSource
    private let signOutPolicy: SignOutPolicy
    private let environment: SyncEnvironment
    private let openVault: @Sendable (OwnerID, Int) throws(SyncError) -> Vault
    private let remember: @Sendable (OwnerID) -> Void
    private let notify: @Sendable (Notice) -> Void
    /// Vaults are opened one after another, in the order of their generations.
    private let openings: AsyncStream<Opening>
    private let openingsInput: AsyncStream<Opening>.Continuation

    private struct Opening: Sendable {
        let owner: OwnerID
        let generation: Int
        let former: VaultHandle?
    }

    /// Opens the first owner's vault, so that a store that cannot be opened is an error of `create(_:)`.
    package init(
        lastOwner: OwnerID, policies: (identity: IdentityPolicy, signOut: SignOutPolicy), session: any SessionSource,
        environment: SyncEnvironment,
        openVault: @escaping @Sendable (OwnerID, Int) throws(SyncError) -> Vault,
        remember: @escaping @Sendable (OwnerID) -> Void, notify: @escaping @Sendable (Notice) -> Void
    ) throws(SyncError) {
        let machine = OwnerMachine(lastOwner: lastOwner, identityPolicy: policies.identity)
        let vault = try openVault(lastOwner, machine.generation)
        state = Mutex(
            State(
                machine: machine,
                handle: VaultHandle(vault: vault, owner: lastOwner, generation: machine.generation)))
        self.session = session
        signOutPolicy = policies.signOut
        self.environment = environment
        self.openVault = openVault
        self.remember = remember
        self.notify = notify
        (openings, openingsInput) = AsyncStream.makeStream()
    }

    /// Announces the first vault and begins to follow the session.
    package func start() {
        if let handle { notify(.vaultOpened(handle)) }
        let states = session.states()
        let following = environment.spawn { [weak self] in
            for await state in states { self?.step(.session(state)) }
        }
        let opening = environment.spawn { [weak self, openings] in
            for await each in openings { await self?.open(each) }
        }
        state.withLock { $0.tasks += [following, opening] }
    }

    package var handle: VaultHandle? { state.withLock { $0.handle } }

    package var credentials: OwnerMachine.Credentials { state.withLock { $0.machine.credentials } }

    /// With what a request of this generation may go out; a former generation may send nothing.
    package func credentials(generation: Int) -> OwnerMachine.Credentials {
        state.withLock { $0.machine.generation == generation ? $0.machine.credentials : .unsettled }
    }

    package func tokenRejected(_ token: String) { step(.tokenRejected(token: token)) }

    package var softBlockReason: String? { state.withLock { $0.machine.softBlockReason } }

    /// Ends a soft block and serves the session's own user.
    package func reset() { step(.reset) }

    /// Takes a state the app told, in line with those of the session source.
    package func take(_ session: SessionState) { step(.session(session)) }

    package func close() async {
        step(.closed)
        let (handle, tasks) = state.withLock { state in
            defer {
                state.handle = nil
                state.tasks = []
                state.isClosed = true
            }
            return (state.handle, state.tasks)
        }
        openingsInput.finish()
        for task in tasks { task.cancel() }
        await handle?.vault.close()
    }

    private func step(_ event: OwnerMachine.Event) {
        let isMine = state.withLock { state in
            let effects = state.machine.handle(event)
            for case .open(_, let generation) in effects {
                state.former[generation] = state.handle
                state.handle = nil
            }
            return state.outbox.add(effects)
        }
        guard isMine else { return }
        while let effect = state.withLock({ $0.outbox.next() }) { perform(effect) }
    }

    private func perform(_ effect: OwnerMachine.Effect) {
        switch effect {
        case .open(let owner, let generation):
            notify(.ownerChanging(generation: generation))
            let former = state.withLock { $0.former.removeValue(forKey: generation) }
            openingsInput.yield(Opening(owner: owner, generation: generation, former: former))
        case .credentials(let credentials): notify(.credentials(credentials))
        case .askForToken(let generation, let delay): askForToken(generation, after: delay)
        case .softBlocked(let reason): notify(.softBlocked(reason: reason))
        case .close: break
        }
    }

    private func open(_ opening: Opening) async {
        let generation = opening.generation
        if let former = opening.former { await seal(former) }
        guard state.withLock({ $0.machine.generation == generation }) else { return }
        do throws(SyncError) {
            let vault = try openVault(opening.owner, generation)
            let handle = VaultHandle(vault: vault, owner: opening.owner, generation: generation)
            let isCurrent = state.withLock { state in
                guard state.machine.generation == generation, !state.isClosed else { return false }
                state.handle = handle
                return true
            }
            guard isCurrent else { return await vault.close() }
            remember(opening.owner)
            notify(.vaultOpened(handle))
            step(.vaultOpened(generation: generation))
        } catch {
            notify(.vaultFailed(error))
            step(.vaultFailed(generation: generation))
        }
    }

    /// Leaves a former owner's vault as the policy says, and closes it.
    private func seal(_ former: VaultHandle) async {
        if former.owner != .nobody {
            do {
                try await former.vault.clear(keepingQueue: signOutPolicy != .discard)
            } catch {
                environment.log.log(LogLine(.error, "The former owner's rows could not be removed from the device"))
            }
        }
        await former.vault.close()
    }

    private func askForToken(_ generation: Int, after delay: Duration) {
        let ticket = environment.spawn { [weak self, environment] in
            do {
                if delay > .zero { try await environment.sleep(delay) }
            } catch {
                // Closed meanwhile.
                return
            }
            await self?.askForToken(generation)
        }
        state.withLock { $0.tasks.append(ticket) }
    }

    private func askForToken(_ generation: Int) async {
        guard state.withLock({ $0.machine.wantsToken(generation: generation) }) else { return }
        do {
            // None for now: the session source tells when there is one again.
            guard let text = try await session.freshToken() else { return }
            let token = try AccessToken(text)
            step(.freshToken(generation: generation, userID: token.userID, token: token.text))
        } catch {
            step(.noFreshToken(generation: generation, jitter: environment.randomFraction()))
        }
    }
}
