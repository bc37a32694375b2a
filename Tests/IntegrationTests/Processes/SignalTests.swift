import Foundation
import KizunaLocal
import Testing

/// What a process learns of another's commits, and what it keeps from the others while it is stopped.
@Suite struct SignalTests {
    /// There is no look at the store in between: a process that is not told sees nothing. How long it takes is printed; the
    /// goal is 200 ms.
    @Test func aCommitIsSeenByTheOthersThroughTheSignal() async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            let scene = try CrashScene(backend)
            let count = 60
            let watchers = try (0..<2).map { _ in try scene.start([], ["KIZUNA_WATCH": "\(count)"]) }
            for watcher in watchers { try await watcher.untilSaid("watching") }
            let job = (1...count).flatMap { ["insert \(noteKey($0)) n\($0)", "wait 10"] }
            let writer = try scene.start(job, ["KIZUNA_WATCH": "1"])
            let written = try await writer.end().moments(of: "accepted")
            #expect(written.count == count)
            for watcher in watchers {
                let end = try await watcher.end()
                let seen = Dictionary(end.moments(of: "saw").map { ($0.keys, $0.at) }, uniquingKeysWith: { $1 })
                #expect(Set(seen.keys) == Set(written.map(\.keys)), "\(end)")
                let times = written.compactMap { write in seen[write.keys].map { max(0, $0 - write.at) } }.sorted()
                print(
                    "seen after the commit, ms: p50 \(times[times.count / 2]), p95 \(times[times.count * 95 / 100]),",
                    "most \(times[times.count - 1])")
            }
        }
    }

    @Test func aStoppedProcessHoldsNoLockThatKeepsAnotherFromWriting() async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            let scene = try CrashScene(backend)
            let stopped = try scene.start(["insert \(noteKey(1)) one"], ["KIZUNA_WATCH": "1000"])
            try await stopped.untilSaid("saw")
            stopped.stop()
            let locks = try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n")
            let id = try #require(stopped.id)
            let own = locks.filter { $0.split(separator: " ").contains(Substring("\(id)")) }
            #expect(own.allSatisfy { !$0.contains("WRITE") }, "\(own)")
            let other = try await scene.run(["insert \(noteKey(2)) two"])
            #expect(other.accepted.count == 1 && other.rejected == 0, "\(other)")
            #expect(try await scene.serverNotes().count == 2)
            stopped.kill()
            _ = try await stopped.end()
        }
    }

    /// No process can help being stopped in the middle of a transaction. The others are told that nothing was written, and
    /// write as soon as it goes on.
    @Test func aProcessStoppedInATransactionOnlyDelaysTheOthers() async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            let scene = try CrashScene(backend)
            _ = try await scene.run()
            let stopped = try scene.start(["insert \(noteKey(1)) one"], kill: "stop commit 1")
            try await stopped.untilSaid("stopped")
            let other = try scene.start(["insert \(noteKey(2)) two"])
            try await other.untilSaid("busy")
            stopped.resume()
            for worker in [stopped, other] {
                let end = try await worker.end()
                #expect(end.accepted.count == 1 && end.rejected == 0, "\(end)")
            }
            #expect(try await scene.serverNotes().count == 2)
            #expect(try await scene.insertedTwice().isEmpty)
        }
    }

    /// A process that is killed in its turn is followed by the next at once, and not when its turn would have ended.
    @Test func aKilledProcessIsFollowedAtOnce() async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            let scene = try CrashScene(backend)
            let lease = ["KIZUNA_LEASE_MS": "600000"]
            backend.control.add(FaultRule(.hold, method: "POST", path: "/rest/v1/notes", count: nil))
            let first = try scene.start(
                ["insert \(noteKey(1)) one"], lease.merging(["KIZUNA_SENDER": "first"]) { $1 })
            _ = await backend.control.requests(when: { $0.contains { $0.outcome == .held } })
            let second = try scene.start(
                ["insert \(noteKey(2)) two"], lease.merging(["KIZUNA_SENDER": "second"]) { $1 })
            try await second.untilSaid("accepted")
            // Whose turn it is sends what the other wrote.
            _ = await backend.control.requests(when: { $0.count(where: { $0.outcome == .held }) == 2 })
            #expect(scene.writes.allSatisfy { $0.sender == "first" })
            first.kill()
            #expect(try await first.end().isKilled)
            backend.control.removeFault()
            let end = try await second.end()
            #expect(end.rejected == 0, "\(end)")
            #expect(scene.writes.contains { $0.sender == "second" })
            #expect(try await scene.serverNotes() == [noteKey(1): "one", noteKey(2): "two"])
        }
    }
}
