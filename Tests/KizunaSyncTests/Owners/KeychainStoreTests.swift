import KizunaCore
import KizunaSync
import Synchronization
import Testing

/// The Keychain's store over a Keychain of the test's own.
@Suite struct KeychainStoreTests {
    private let keychain = FakeKeychain()
    private var store: KizunaAuthKeychainStore { KizunaAuthKeychainStore(secrets: keychain) }
    private let session = KizunaAuthSession(userID: "alice", refreshToken: "r1")

    @Test func aSessionIsKeptReplacedAndForgotten() async throws {
        #expect(try await store.load() == nil)
        try await store.save(session)
        #expect(try await store.load() == session)
        let next = KizunaAuthSession(userID: "alice", refreshToken: "r2")
        try await store.save(next)
        #expect(try await store.load() == next)
        try await store.save(nil)
        #expect(try await store.load() == nil)
        #expect(keychain.entries.isEmpty)
    }

    @Test func aLockedKeychainIsAnErrorAndNoMissingSession() async throws {
        try await store.save(session)
        keychain.isLocked = true
        await #expect(throws: SyncError.self) { try await store.load() }
        await #expect(throws: SyncError.self) { try await store.save(nil) }
        keychain.isLocked = false
        #expect(try await store.load() == session)
    }

    @Test(arguments: ["", "{}", "not JSON", #"{"userID":1,"refreshToken":"secret"}"#])
    func anAlienEntryIsAnErrorThatDoesNotQuoteIt(_ text: String) async throws {
        keychain.entries["session"] = Array(text.utf8)
        let error = await #expect(throws: SyncError.self) { try await store.load() }
        #expect(error?.code == .storage)
        #expect(error.map(String.init(describing:))?.contains("secret") == false)
        try await store.save(session)
        #expect(try await store.load() == session)
    }

    @Test func whereThereIsNoKeychainTheStoreSaysSo() throws {
        #if canImport(Security)
            _ = try KizunaAuthKeychainStore(service: "example")
        #else
            let error = #expect(throws: SyncError.self) { try KizunaAuthKeychainStore(service: "example") }
            #expect(error?.code == .invalidConfiguration)
        #endif
    }
}

private final class FakeKeychain: SecretStore {
    private struct State {
        var entries: [String: [UInt8]] = [:]
        var isLocked = false
    }

    private let state = Mutex(State())

    var entries: [String: [UInt8]] {
        get { state.withLock { $0.entries } }
        set { state.withLock { $0.entries = newValue } }
    }

    var isLocked: Bool {
        get { state.withLock { $0.isLocked } }
        set { state.withLock { $0.isLocked = newValue } }
    }

    func read(_ account: String) throws(SyncError) -> [UInt8]? {
        guard !isLocked else { throw SyncError(.storage, "locked") }
        return entries[account]
    }

    func write(_ secret: [UInt8]?, _ account: String) throws(SyncError) {
        guard !isLocked else { throw SyncError(.storage, "locked") }
        entries[account] = secret
    }
}
