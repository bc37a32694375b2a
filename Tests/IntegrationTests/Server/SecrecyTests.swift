internal import TestSupport
import Foundation
import KizunaCore
import KizunaLocal
import KizunaSync
import Testing

/// Tokens and keys stay in memory; errors name no value (docs/spec/owners.md, Secrets).
@Suite struct SecrecyTests {
    @Test func noFileAndNoTextHoldsATokenOrAKey() async throws {
        try await SharedCluster.withBackend(Schemas.ownNotes) { backend in
            let token = backend.token(subject: Users.ada)
            let expired = backend.token(subject: Users.ada, expiresIn: .seconds(-60))
            let device = try await Device(backend)
            try await device.client.setAccessToken(expired)
            try await device.notes.insert(Note(id: noteKey(1), title: "first"))
            await backend.control.requests { $0.contains { $0.status == 401 } }
            try await device.client.setAccessToken(token)
            try await device.untilDelivered()
            _ = try await device.pull()
            let rejected = try await device.notes.insert(Note(id: noteKey(1), title: "secret words"))
            let error = await #expect(throws: SyncError.self) { try await rejected.delivered() }
            backend.control.isNetworkOn = false
            try await device.notes.insert(Note(id: noteKey(2), title: "waits"))
            let offline = await #expect(throws: SyncError.self) { try await device.pull() }
            let texts = "\(error.map(String.init(describing:)) ?? "") \(offline.map(String.init(describing:)) ?? "")"
            let secrets = [token, expired, backend.anonKey, "Bearer"]
            for secret in secrets {
                for place in [texts, device.log.text] { #expect(!place.contains(secret)) }
                for file in try device.store.files() {
                    #expect(file.bytes.range(of: Data(secret.utf8)) == nil, "\(file.path)")
                }
            }
            #expect(!texts.contains("secret words") && !texts.contains(noteKey(1)))
            #expect(error?.code == .rejected && offline?.code == .connectivity)
            for file in try device.store.files() {
                let rights = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
                #expect((rights as? NSNumber)?.intValue == 0o600, "\(file.path)")
            }
            await device.client.close()
        }
    }

    @Test(arguments: ["http://127.0.0.1:1", "http://nowhere.invalid"])
    func aServerThatIsNotThereIsAConnectivityErrorAndTheQueueWaits(url: String) async throws {
        try await SharedCluster.withBackend(Schemas.notes) { backend in
            let device = try await Device(backend, url: url)
            try await device.notes.insert(Note(id: noteKey(1), title: "waits"))
            let error = await #expect(throws: SyncError.self) { try await device.pull() }
            #expect(error?.code == .connectivity)
            #expect(error?.description.contains(url) == false)
            #expect(try await device.shown().map(\.title) == ["waits"])
            await device.client.close()
        }
    }

    @Test(arguments: ["ftp://example.org", "http://", "nonsense", "https://example.org?x=1"])
    func aURLThatIsNoProjectIsRefusedAtOnce(url: String) async throws {
        try await SharedCluster.withBackend(Schemas.notes) { backend in
            let error = await #expect(throws: SyncError.self) { try await Device(backend, url: url) }
            #expect(error?.code == .invalidConfiguration)
        }
    }

    @Test(arguments: [
        HTTPAnswer(status: 200, headers: [HTTPHeader("Content-Type", "text/html")], body: Array("<html>".utf8)),
        HTTPAnswer(status: 200, body: Array("not JSON".utf8)), HTTPAnswer(status: 200, body: Array(#"{"a":1}"#.utf8)),
        HTTPAnswer(status: 502, body: Array("<html>".utf8)),
    ])
    func anAlienAnswerToAReadLeavesWhatIsStored(_ response: HTTPAnswer) async throws {
        try await SharedCluster.withBackend(Schemas.notes) { backend in
            let device = try await Device(backend)
            try await device.notes.insert(Note(id: noteKey(1), title: "kept")).delivered()
            let before = try await device.pull()
            backend.control.add(FaultRule(.answer(response), method: "GET", path: "/rest/v1/notes", count: nil))
            let error = await #expect(throws: SyncError.self) { try await device.pull() }
            #expect(error?.code == (response.status == 200 ? .malformedResponse : .server))
            #expect(try await device.shown() == before)
            await device.client.close()
        }
    }
}
