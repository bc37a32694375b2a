import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

/// Live reads on the process's own threads and clock, where the order of events is anybody's.
@Suite(.timeLimit(.minutes(2))) struct RealThreadTests {
    /// Answers each user with one row that names them.
    private struct EchoTransport: WireTransport {
        func send(_ request: WireRequest) async throws -> WireResponse {
            let bearer = request.headers.last { $0.name == "Authorization" }?.value ?? ""
            let user = ["alice", "bob"].first { bearer.hasSuffix(TestToken.make(userID: $0)) } ?? "nobody"
            let body = request.method == "GET" ? #"[{"id":"0","title":"\#(user)","done":false}]"# : "[]"
            return WireResponse(status: request.method == "GET" ? 200 : 201, body: Array(body.utf8))
        }
    }

    private func makeClient(_ session: FakeSession) async throws -> KizunaSyncClient {
        var dependencies = Engine.Dependencies()
        dependencies.transport = EchoTransport()
        dependencies.isInMemory = true
        let client = KizunaSyncClient(dependencies: dependencies)
        let url = try #require(URL(string: "https://project.example"))
        try await client.create(
            KizunaSyncConfiguration(url: url, publishableKey: "key", dataDirectory: url, session: session))
        return client
    }

    @Test func readersOfOneQueryAllEndOnTheSameRowsInOrder() async throws {
        let client = try await makeClient(FakeSession(.signedOut))
        try await client.disableNetwork()
        try await withThrowingTaskGroup(of: [Int].self) { group in
            for _ in 1...6 {
                group.addTask {
                    var counts: [Int] = []
                    for try await snapshot in client.from("tasks").selectAsSequence(as: [TaskRow].self) {
                        counts.append(snapshot.result?.count ?? 0)
                        if counts.last == 120 { break }
                    }
                    return counts
                }
            }
            for writer in 1...4 {
                group.addTask {
                    for number in 1...30 {
                        try await client.from("tasks").insert(NewTask(title: "\(writer).\(number)", done: false))
                    }
                    return []
                }
            }
            for try await counts in group { #expect(counts == counts.sorted()) }
        }
        await client.close()
    }

    @Test func usersWhoComeAndGoNeverSeeEachOther() async throws {
        let session = FakeSession(.signedOut)
        let client = try await makeClient(session)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for strategy in [SequenceReadStrategy.cacheFirstThenNetwork, .networkFirstThenCache] {
                for _ in 1...3 {
                    group.addTask {
                        for try await snapshot in client.from("tasks")
                            .selectAsSequence(as: [TaskRow].self, readStrategy: strategy)
                        {
                            let titles = Set(snapshot.result?.map(\.title) ?? [])
                            #expect(titles.count <= 1)
                            if titles == ["bob"], session.current != .signedOut, !snapshot.isFromCache { break }
                        }
                    }
                }
            }
            group.addTask {
                for round in 1...60 {
                    switch round % 4 {
                    case 0: session.signOut()
                    case 1: session.signIn("alice")
                    case 2: session.current = .restoring
                    default: session.signIn("bob")
                    }
                    // While the session is being restored such a read would wait for it.
                    if round % 4 != 2 { _ = try? await client.from("tasks").select(as: [TaskRow].self).execute() }
                }
                session.signIn("bob")
            }
            try await group.waitForAll()
        }
        await client.close()
    }

    @Test func joiningAndLeavingFromManyTasksAlwaysGetsAnAnswer() async throws {
        let client = try await makeClient(FakeSession(.signedOut))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...8 {
                group.addTask {
                    for _ in 1...40 {
                        for try await snapshot in client.from("tasks").selectAsSequence(as: [TaskRow].self)
                        where snapshot.refresh == .idle { break }
                    }
                }
            }
            try await group.waitForAll()
        }
        await client.close()
    }
}
