import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

/// Each commit of a scenario fails once, as with a busy store or a full disk. A call throws and queues nothing, or its write
/// is durable. A commit that fails after the server's response neither rejects a mutation nor sends it twice.
@Suite struct CommitFailureTests {
    /// Fails a number of commits, beginning with the nth.
    private final class FailingCommits: Sendable {
        private let first: Int
        private let times: Int
        private let code: SyncError.Code
        private let count = Mutex(0)

        init(from first: Int, times: Int, code: SyncError.Code) {
            self.first = first
            self.times = times
            self.code = code
        }

        func pass() throws(SyncError) {
            let number = count.withLock { count in
                count += 1
                return count
            }
            guard number >= first, number < first + times else { return }
            throw SyncError(code, "The commit was made to fail.")
        }

        var hasFailed: Bool { count.withLock { $0 >= first } }
    }

    private static func key(_ number: Int) -> String { "0190aaaa-0000-7000-8000-00000000000\(number)" }

    @Test(arguments: [(1, SyncError.Code.storeBusy), (4, .storeBusy), (2, .diskFull)])
    func eachWriteIsDeliveredOnceWhenAnyCommitFails(times: Int, code: SyncError.Code) throws {
        var number = 1
        var failed = 0
        while number < 100 {
            let commits = FailingCommits(from: number, times: times, code: code)
            try Self.job(commits, "the commits from \(number) on fail \(times) times")
            guard commits.hasFailed else { break }
            failed += 1
            number += 1
        }
        #expect(failed > 12)
    }

    private static func job(_ commits: FailingCommits, _ what: Comment) throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            world.server.latency = .milliseconds(10)
            var dependencies = Engine.Dependencies()
            dependencies.environment = simulation.environment
            dependencies.transport = world.network
            dependencies.isInMemory = true
            dependencies.willCommit = { () throws(SyncError) in try commits.pass() }
            let client = KizunaSyncClient(dependencies: dependencies)
            let (url, folder) = (URL(string: "https://project.example"), URL(string: "file:///nowhere"))
            try await client.create(
                KizunaSyncConfiguration(
                    url: try #require(url), publishableKey: "key", dataDirectory: try #require(folder)))
            let items = client.from("items")
            let calls: [@Sendable () async throws -> Void] = [
                { try await items.insert(Item(id: key(1), title: "kept")) },
                { try await items.update(["done": true]).eq("id", value: key(1)).execute() },
                { try await items.insert(Item(id: key(2), title: "")) },
                { try await items.insert(Item(id: key(3), title: "gone")) },
                { try await items.delete().eq("id", value: key(3)).execute() },
            ]
            for call in calls {
                // A call that throws has queued nothing, so it can be repeated.
                while true {
                    do {
                        try await call()
                        break
                    } catch let error as SyncError where [.storeBusy, .diskFull].contains(error.code) {
                        await simulation.advance(by: .milliseconds(5))
                    }
                }
                await simulation.advance(by: .milliseconds(15))
            }
            await simulation.advance(by: .seconds(600))
            let done = world.server.mutations.map { "\($0.operation) \($0.key.suffix(1))" }
            // The mutations of each row are in order and applied once; other rows may overtake.
            for (row, expected) in [("1", ["insert 1", "update 1"]), ("2", []), ("3", ["insert 3", "delete 3"])] {
                #expect(done.filter { $0.hasSuffix(row) } == expected, what)
            }
            let waiting = try await WriteWorld.first(client.pendingMutations(table: "items"))
            #expect(waiting?.isEmpty == true, what)
            let rejected = try await WriteWorld.first(client.rejectedMutations)
            #expect(rejected?.map(\.failure.code) == ["23514"], what)
            await client.close()
        }
    }
}
