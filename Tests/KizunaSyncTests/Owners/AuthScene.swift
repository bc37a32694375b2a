import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization

/// An auth server in memory: passwords are not looked at, refresh tokens rotate, and a test says how it fails.
final class FakeAuthServer: Sendable {
    enum Mode: Sendable {
        case well
        case unreachable
        case rejecting(status: Int, code: String)
        case holding
    }

    private struct State {
        var mode = Mode.well
        var lifetime = 3600
        var serial = 0
        /// The refresh tokens that are good, and whose they are.
        var good: [String: String] = [:]
        var refreshes: [Duration] = []
        var logouts: [String] = []
        var held: [@Sendable () -> Void] = []
    }

    private let simulation: Simulation
    private let state = Mutex(State())

    init(_ simulation: Simulation) { self.simulation = simulation }

    var mode: Mode {
        get { state.withLock { $0.mode } }
        set { state.withLock { $0.mode = newValue } }
    }
    var lifetime: Int {
        get { state.withLock { $0.lifetime } }
        set { state.withLock { $0.lifetime = newValue } }
    }
    /// When refreshes arrived.
    var refreshes: [Duration] { state.withLock { $0.refreshes } }
    /// The users whose sessions were ended.
    var logouts: [String] { state.withLock { $0.logouts } }
    var heldCount: Int { state.withLock { $0.held.count } }

    /// A session as an earlier process kept it.
    func kept(_ user: String) -> KizunaAuthSession {
        KizunaAuthSession(userID: user, refreshToken: state.withLock { Self.token(of: user, &$0) })
    }

    private static func token(of user: String, _ state: inout State) -> String {
        state.serial += 1
        let token = "refresh-secret-\(state.serial)"
        state.good[token] = user
        return token
    }

    func respond(to request: WireRequest) async throws -> WireResponse {
        if request.url.contains("refresh_token") {
            let now = simulation.elapsed
            state.withLock { $0.refreshes.append(now) }
        }
        switch mode {
        case .well: return response(request)
        case .unreachable: throw WireFailure(.notSent, "no connection")
        case .rejecting(let status, let code):
            return WireResponse(status: status, body: Array(#"{"code":"\#(code)","message":"no"}"#.utf8))
        case .holding:
            await withCheckedContinuation { continuation in
                state.withLock { $0.held.append { continuation.resume() } }
            }
            return response(request)
        }
    }

    /// Lets the first held request be answered, or the last one.
    func release(last: Bool = false) {
        let held = state.withLock { state in
            state.held.isEmpty ? nil : last ? state.held.removeLast() : state.held.removeFirst()
        }
        held?()
    }

    private func response(_ request: WireRequest) -> WireResponse {
        let body = try? RawJSON(validating: request.body ?? [])
        if request.url.contains("/logout") {
            let bearer = request.headers.last { $0.name == "Authorization" }?.value.dropFirst(7) ?? ""
            let user = (try? AccessToken(String(bearer)).userID) ?? "?"
            state.withLock { $0.logouts.append(user) }
            return WireResponse(status: 204)
        }
        if let refresh = body?.member("refresh_token")?.stringValue {
            guard let user = state.withLock({ $0.good.removeValue(forKey: refresh) }) else {
                return WireResponse(
                    status: 400, body: Array(#"{"code":"refresh_token_already_used","message":"used"}"#.utf8))
            }
            return session(of: user)
        }
        let email = body?.member("email")?.stringValue ?? ""
        return session(of: String(email.prefix { $0 != "@" }))
    }

    private func session(of user: String) -> WireResponse {
        let (refresh, serial, lifetime) = state.withLock { state in
            (Self.token(of: user, &state), state.serial, state.lifetime)
        }
        let access = TestToken.make(userID: user, serial: serial)
        return WireResponse(
            status: 200,
            body: Array(
                #"{"access_token":"\#(access)","refresh_token":"\#(refresh)","expires_in":\#(lifetime),"token_type":"bearer"}"#
                    .utf8))
    }
}

/// Keeps a session as a Keychain would: some calls fail, or take their time.
final class FakeAuthStore: KizunaAuthStore {
    struct Locked: Error {}

    private struct State {
        var session: KizunaAuthSession?
        var isLocked = false
        var isHolding = false
        var isFixed = false
        var held: [CheckedContinuation<Void, Never>] = []
        var saves = 0
    }

    private let state: Mutex<State>

    init(_ session: KizunaAuthSession? = nil) { state = Mutex(State(session: session)) }

    var session: KizunaAuthSession? { state.withLock { $0.session } }
    var saves: Int { state.withLock { $0.saves } }
    /// While locked, nothing can be read or written.
    var isLocked: Bool {
        get { state.withLock { $0.isLocked } }
        set { state.withLock { $0.isLocked = newValue } }
    }
    /// While fixed, a save is forgotten.
    var isFixed: Bool {
        get { state.withLock { $0.isFixed } }
        set { state.withLock { $0.isFixed = newValue } }
    }
    /// While holding, a save does not return.
    func hold(_ isHolding: Bool) {
        let held = state.withLock { state in
            state.isHolding = isHolding
            guard !isHolding else { return [CheckedContinuation<Void, Never>]() }
            defer { state.held = [] }
            return state.held
        }
        for each in held { each.resume() }
    }

    func load() async throws -> KizunaAuthSession? {
        if isLocked { throw Locked() }
        return session
    }

    func save(_ session: KizunaAuthSession?) async throws {
        if state.withLock({ $0.isHolding }) {
            await withCheckedContinuation { continuation in state.withLock { $0.held.append(continuation) } }
        }
        if isLocked { throw Locked() }
        state.withLock { state in
            if !state.isFixed { state.session = session }
            state.saves += 1
        }
    }
}

/// An owner scene whose session is a `KizunaAuth`.
struct AuthScene {
    let scene: OwnerScene
    let server: FakeAuthServer
    let store: FakeAuthStore
    let auth: KizunaAuth

    init(_ simulation: Simulation, folder: URL, kept user: String? = nil) throws {
        scene = try OwnerScene(simulation, folder: folder)
        let server = FakeAuthServer(simulation)
        self.server = server
        store = FakeAuthStore(user.map { server.kept($0) })
        auth = try Self.auth(simulation, server, store)
        scene.network.allowed = Set(OwnerScene.users.map { Optional($0) } + [nil])
    }

    private static func auth(
        _ simulation: Simulation, _ server: FakeAuthServer, _ store: FakeAuthStore
    ) throws -> KizunaAuth {
        guard let url = URL(string: "https://project.example") else { throw FakeAuthStore.Locked() }
        return KizunaAuth(
            url: url, publishableKey: "publishable-secret", store: store, transport: AuthWire(server: server),
            environment: simulation.environment)
    }

    /// The session as another process of the app has it, which keeps it in the same place.
    func otherProcess() throws -> KizunaAuth { try Self.auth(scene.simulation, server, store) }

    func client(configure: (inout KizunaSyncConfiguration) -> Void = { _ in }) async throws -> KizunaSyncClient {
        try await scene.client { configuration in
            configuration.session = auth
            configure(&configuration)
        }
    }
}

private struct AuthWire: WireTransport {
    let server: FakeAuthServer

    func send(_ request: WireRequest) async throws -> WireResponse { try await server.respond(to: request) }
}
