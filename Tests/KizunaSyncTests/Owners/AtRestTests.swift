import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

/// What lies on the disk, and who may read it.
@Suite struct AtRestTests {
    /// Every file and folder under one, itself included.
    private func entries(of folder: URL) throws -> [(url: URL, mode: Int, isFolder: Bool)] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try names.map { name in
            let url = folder.appendingPathComponent(name)
            let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
            return (
                url, (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0,
                attributes[.type] as? FileAttributeType == .typeDirectory
            )
        }
    }

    /// A life of a client with everything in it: sign-ins, refreshes, refusals, lost answers, a switch and a sign-out.
    private func live(in folder: URL) throws -> [LogLine] {
        try Simulation.run { simulation in
            let world = try AuthScene(simulation, folder: folder)
            let client = try await world.client {
                $0.publishableKey = "publishable-secret"
                $0.log = simulation.log
            }
            let watch = OwnerWatch(client, in: simulation)
            for user in ["alice", "bruno"] {
                try await world.auth.signIn(email: "\(user)@example.org", password: "password-secret")
                await simulation.settle()
                _ = try await world.scene.insert("a write", as: user, on: client)
                _ = try await world.scene.insert("refused", as: "clara", on: client)
                await simulation.advance(by: .seconds(4000))
                world.scene.server.outage = SimulatedRejection(401, code: "PGRST301", message: "JWT expired")
                _ = try await world.scene.insert("a later write", as: user, on: client)
                await simulation.advance(by: .seconds(30))
                world.scene.server.outage = nil
                await simulation.advance(by: .seconds(4000))
            }
            world.store.isLocked = true
            try await world.auth.signIn(email: "clara@example.org", password: "password-secret")
            await simulation.advance(by: .seconds(60))
            world.store.isLocked = false
            world.server.mode = .rejecting(status: 400, code: "refresh_token_not_found")
            await simulation.advance(by: .seconds(4000))
            await world.auth.signOut()
            await simulation.settle()
            #expect(!watch.shown.isEmpty)
            #expect(world.server.refreshes.count >= 4)
            await client.close()
            return simulation.log.lines
        }
    }

    @Test func noTokenKeyOrHeaderIsInAnyFileOrLogLine() throws {
        try withTemporaryFolder { folder in
            let lines = try live(in: folder)
            let secrets = [
                "refresh-secret", "publishable-secret", "password-secret", "Authorization", "Bearer", "apikey",
                // What every test token begins with.
                String(TestToken.make(userID: "alice").prefix(20)),
            ]
            let files = try entries(of: folder).filter { !$0.isFolder }
            #expect(files.count >= 3)
            for file in files {
                let bytes = Array(try Data(contentsOf: file.url))
                for secret in secrets {
                    #expect(!bytes.contains(text: secret), "\(secret) in \(file.url.lastPathComponent)")
                }
            }
            #expect(!lines.isEmpty)
            for line in lines {
                let text = "\(line.message) \(line.metadata)"
                for secret in secrets + ["alice", "bruno", "a write"] {
                    #expect(!text.contains(secret), "\(secret) in a log line")
                }
            }
        }
    }

    @Test func filesAreThisUsersAlone() throws {
        try withTemporaryFolder { folder in
            let data = folder.appendingPathComponent("data")
            try Simulation.run { simulation in
                let world = try AuthScene(simulation, folder: data, kept: "alice")
                let client = try await world.client()
                let watch = OwnerWatch(client, in: simulation)
                await simulation.settle()
                _ = try await world.scene.insert("a write", as: "alice", on: client)
                #expect(watch.last != nil)
                let found = try entries(of: folder)
                #expect(found.contains { $0.url.lastPathComponent.hasSuffix("-wal") })
                for entry in found {
                    let expected = entry.isFolder ? 0o700 : 0o600
                    #expect(
                        entry.mode == expected,
                        "\(entry.url.lastPathComponent) has mode \(String(entry.mode, radix: 8))")
                }
                await client.close()
            }
        }
    }

    @Test func storesAreNamedByHashes() throws {
        try withTemporaryFolder { folder in
            _ = try live(in: folder)
            for entry in try entries(of: folder) {
                let path = entry.url.path.dropFirst(folder.path.count)
                for word in OwnerScene.users + ["nobody", "project.example"] { #expect(!path.contains(word)) }
            }
        }
    }

    @Test(arguments: ["s3cret\n", " s3cret", "s3\u{0}cret", "schlüssel"])
    func aKeyThatCannotBeSentIsRefusedAtOnce(_ key: String) async throws {
        let configuration = KizunaSyncConfiguration(
            url: try #require(URL(string: "https://project.example")), publishableKey: key,
            dataDirectory: URL(fileURLWithPath: "/nowhere"))
        let client = KizunaSyncClient()
        let error = await #expect(throws: SyncError.self) { try await client.create(configuration) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.description.contains(key) == false)
    }

    @Test(arguments: ["\n", "\r\nX-Other: 1", " ", "ü"])
    func aTokenThatCannotBeSentIsNoToken(_ tail: String) throws {
        let token = TestToken.make(userID: "alice")
        _ = try AccessToken(token)
        let error = #expect(throws: SyncError.self) { try AccessToken(token + tail) }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test func nothingOfThePublicInterfaceShowsASecretInADump() throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let world = try AuthScene(simulation, folder: folder)
                let client = try await world.client { $0.publishableKey = "publishable-secret" }
                try await world.auth.signIn(email: "alice@example.org", password: "password-secret")
                await simulation.settle()
                let receipt = try await world.scene.insert("a write", as: "alice", on: client)
                let token = TestToken.make(userID: "alice")
                let guarded = try #require(URL(string: "https://user:password-secret@project.example"))
                let things: [Any] = [
                    KizunaSyncConfiguration(
                        url: guarded, publishableKey: "publishable-secret", dataDirectory: folder, session: world.auth),
                    client, world.auth, receipt, KizunaSyncScheduler(client: client, refreshSession: { true }),
                    try client.engine().configuration, client.from("items"),
                    client.from("items").selectAsSequence(as: [OwnedRow].self),
                    SessionState.signedIn(userID: "alice", accessToken: token),
                    KizunaAuthSession(userID: "alice", refreshToken: "refresh-secret"),
                ]
                for thing in things {
                    var text = "\(thing) \(String(reflecting: thing)) \([thing])"
                    dump(thing, to: &text)
                    for secret in ["refresh-secret", "publishable-secret", "password-secret", String(token.prefix(20))]
                    {
                        #expect(!text.contains(secret), "\(type(of: thing)) shows \(secret)")
                    }
                }
                await client.close()
            }
        }
    }

    @Test func aTokenDoesNotPrintItself() throws {
        let state = SessionState.signedIn(userID: "alice", accessToken: "secret")
        #expect("\(state)" == "signedIn")
        #expect("\(KizunaAuthSession(userID: "alice", refreshToken: "secret"))" == "KizunaAuthSession")
        #expect(!String(reflecting: KizunaAuthSession(userID: "alice", refreshToken: "secret")).contains("secret"))
    }
}
