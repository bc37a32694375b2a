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
    }

    private struct State {
        var machine: OwnerMachine
        var handle: VaultHandle?
        var tasks: [TaskTicket] = []
    }

    private let state: Mutex<State>
    private let session: any SessionSource
    private let environment: SyncEnvironment
    private let openVault: @Sendable (OwnerID, Int) throws(SyncError) -> Vault
    private let remember: @Sendable (OwnerID) -> Void
    private let notify: @Sendable (Notice) -> Void

    /// Opens the first owner's vault, so that a store that cannot be opened is an error of `create(_:)`.
    package init(
        lastOwner: OwnerID, session: any SessionSource, environment: SyncEnvironment,
        openVault: @escaping @Sendable (OwnerID, Int) throws(SyncError) -> Vault,
        remember: @escaping @Sendable (OwnerID) -> Void, notify: @escaping @Sendable (Notice) -> Void
    ) throws(SyncError) {
        let machine = OwnerMachine(lastOwner: lastOwner)
        let vault = try openVault(lastOwner, machine.generation)
        state = Mutex(
            State(
                machine: machine,
                handle: VaultHandle(vault: vault, owner: lastOwner, generation: machine.generation)))
        self.session = session
        self.environment = environment
        self.openVault = openVault
        self.remember = remember
        self.notify = notify
    }

    /// Announces the first vault and begins to follow the session.
    package func start() {
        if let handle { notify(.vaultOpened(handle)) }
        let states = session.states()
        let ticket = environment.spawn { [weak self] in
            for await state in states { self?.step(.session(state)) }
        }
        state.withLock { $0.tasks.append(ticket) }
    }

    package var handle: VaultHandle? { state.withLock { $0.handle } }

    package var credentials: OwnerMachine.Credentials { state.withLock { $0.machine.credentials } }

    /// With what a request of this generation may go out; a former generation may send nothing.
    package func credentials(generation: Int) -> OwnerMachine.Credentials {
        state.withLock { $0.machine.generation == generation ? $0.machine.credentials : .unsettled }
    }

    package func tokenRejected(_ token: String) { step(.tokenRejected(token: token)) }

    /// Takes a state the app told, in line with those of the session source.
    package func take(_ session: SessionState) { step(.session(session)) }

    package func close() async {
        step(.closed)
        let (handle, tasks) = state.withLock { state in
            defer {
                state.handle = nil
                state.tasks = []
            }
            return (state.handle, state.tasks)
        }
        for task in tasks { task.cancel() }
        await handle?.vault.close()
    }

    private func step(_ event: OwnerMachine.Event) {
        let (effects, former) = state.withLock { state -> ([OwnerMachine.Effect], VaultHandle?) in
            let effects = state.machine.handle(event)
            guard effects.contains(where: { if case .open = $0 { true } else { false } }) else { return (effects, nil) }
            defer { state.handle = nil }
            return (effects, state.handle)
        }
        for effect in effects {
            switch effect {
            case .open(let owner, let generation):
                notify(.ownerChanging(generation: generation))
                open(owner, generation, closing: former)
            case .credentials(let credentials): notify(.credentials(credentials))
            case .askForToken: askForToken()
            case .close: break
            }
        }
    }

    private func open(_ owner: OwnerID, _ generation: Int, closing former: VaultHandle?) {
        environment.spawn { [self] in
            await former?.vault.close()
            do throws(SyncError) {
                let vault = try openVault(owner, generation)
                let handle = VaultHandle(vault: vault, owner: owner, generation: generation)
                let isCurrent = state.withLock { state in
                    guard state.machine.generation == generation else { return false }
                    state.handle = handle
                    return true
                }
                guard isCurrent else { return await vault.close() }
                remember(owner)
                notify(.vaultOpened(handle))
                step(.vaultOpened(generation: generation))
            } catch {
                notify(.vaultFailed(error))
                step(.vaultFailed(generation: generation))
            }
        }
    }

    private func askForToken() {
        environment.spawn { [self] in
            // Nothing came, or it could not be had: the session source tells when there is a token again.
            guard let text = try? await session.freshToken(), let token = try? AccessToken(text) else { return }
            step(.session(.signedIn(userID: token.userID, accessToken: token.text)))
        }
    }
}
