import Foundation
import KizunaCore
import KizunaStore
import Synchronization
import TestSupport
import Testing

/// Several processes open a store file, at once or one after another, also when it is removed meanwhile.
@Suite struct SharedOpeningTests {
    @Test(arguments: 0..<5) func severalProcessesOpenANewFileAtOnce(_ round: Int) async throws {
        let scene = try SharedScene()
        let stores = try await withThrowingTaskGroup(of: SharedScene.Process.self) { group in
            for number in 1...8 { group.addTask { try scene.process(Int32(number)) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for (number, each) in stores.enumerated() {
            _ = try await each.store.enqueue([try insertion("k\(number)")], limit: 100)
        }
        #expect(try await stores[0].store.pendingEntries().count == 8)
        for each in stores { await each.store.close() }
    }

    /// A process that comes later must not replace the file that another one is creating.
    @Test func oneOfSeveralProcessesCreatesTheFile() async throws {
        for round in 0..<100 {
            let scene = try SharedScene()
            let stores = try await withThrowingTaskGroup(of: SharedScene.Process.self) { group in
                for number in 1...6 {
                    group.addTask {
                        let process = try scene.process(Int32(number))
                        _ = try await process.store.enqueue([try insertion("k\(number)")], limit: 100)
                        return process
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for each in stores {
                #expect(try await each.store.pendingEntries().count == 6, "round \(round)")
                #expect(!each.news.contains { $0.isCleared }, "round \(round)")
                await each.store.close()
            }
        }
    }

    @Test func aFileOfTheFirstVersionIsMigratedWithItsContents() async throws {
        let scene = try SharedScene()
        let first = try scene.process(1)
        _ = try await first.store.store(try scene.response(#"[{"id":"a"}]"#, at: first.logicalClock.next()))
        _ = try await first.store.enqueue([try insertion("b")], limit: 10)
        await first.store.close()
        let raw = try RawStore(scene.path)
        for sql in [
            "DROP TABLE shared", "DROP TABLE marks", "ALTER TABLE lists DROP COLUMN version",
            "ALTER TABLE lists DROP COLUMN asked_at", "ALTER TABLE lists DROP COLUMN used_by",
            "ALTER TABLE queue DROP COLUMN revision", "PRAGMA user_version = 1",
        ] { try raw.execute(sql) }
        raw.close()
        let (one, two) = try scene.pair()
        #expect(try await one.store.pendingEntries().map(\.id) == ["insert-b"])
        #expect(texts(try await two.store.list(cacheKey: "all", usedAt: day(5))) == [#"{"id":"a"}"#])
        #expect(try await two.store.beginSend(["insert-b"]).word == "noted")
        #expect(try await one.store.beginSend(["insert-b"]).word == "elsewhere 10")
    }

    /// A process that is suspended during a transaction blocks the other processes.
    @Test func eachTransactionPreventsSuspensionUntilItsEnd() async throws {
        let one = try SharedScene().process(1)
        var asked = 0
        func expectOneMore() {
            let awake = one.awake.value.withLock { $0 }
            #expect(awake.asked > asked && awake.ended == awake.asked, "\(awake) after \(asked)")
            asked = awake.asked
        }
        _ = try await one.store.enqueue([try insertion("a")], limit: 1)
        expectOneMore()
        _ = try await one.store.list(cacheKey: "all", usedAt: day(5))
        expectOneMore()
        await #expect(throws: SyncError.self) { try await one.store.enqueue([try insertion("b")], limit: 1) }
        expectOneMore()
    }

    /// A mutation queued after the removal must be in an existing file.
    @Test func aFileRemovedByAnotherProcessIsCreatedAgain() async throws {
        let scene = try SharedScene()
        let one = try scene.process(1)
        _ = try await one.store.store(try scene.response(#"[{"id":"a"}]"#, at: one.logicalClock.next()))
        let stored = try await one.store.enqueue([try insertion("b"), try insertion("c")], limit: 10)
        try await one.store.beginSend(["insert-c"])
        try await one.store.reject([try rejection(stored[1])])
        try StoreFile(path: scene.path).remove()
        _ = try await one.store.enqueue([try insertion("d")], limit: 10)
        let news = try #require(one.news.last)
        #expect(news.isCleared)
        #expect(news.ended.map(\.id) == ["insert-b"])
        #expect(news.unrejected == ["insert-c"])
        let later = try scene.process(2)
        #expect(try await later.store.pendingEntries().map(\.id) == ["insert-d"])
        await one.store.close()
        #expect(
            try await later.store.pendingEntries().map(\.id) == ["insert-d"], "the old one's end takes nothing along")
        await later.store.close()
        #expect(try await scene.process(3).store.pendingEntries().map(\.id) == ["insert-d"])
    }

    @Test func aFileIsNotRemovedDuringATransaction() async throws {
        let scene = try SharedScene()
        let one = try scene.process(1)
        let other = try RawStore(scene.path)
        try other.execute("BEGIN IMMEDIATE")
        let error = #expect(throws: SyncError.self) { try StoreFile(path: scene.path, busyTimeout: .zero).remove() }
        #expect(error?.code == .storeBusy)
        #expect(FileManager.default.fileExists(atPath: scene.path))
        try other.execute("ROLLBACK")
        other.close()
        await one.store.close()
    }

    @Test func theCachedRowsAreGoneInAllProcessesAfterASignOut() async throws {
        let scene = try SharedScene()
        let (one, two) = try scene.pair()
        _ = try await one.store.store(try scene.response(#"[{"id":"secret-row"}]"#, at: one.logicalClock.next()))
        _ = try await one.store.enqueue([try insertion("b")], limit: 10)
        _ = try await two.store.image(cacheKey: "all", table: tasks, usedAt: day(5))
        try await one.store.seal(discarding: false)
        #expect(try await two.look()?.isCleared == true)
        #expect(try await two.store.pendingEntries().map(\.id) == ["insert-b"])
        let left = try scene.folder.files().filter { $0.bytes.range(of: Data("secret-row".utf8)) != nil }
        #expect(left.map(\.path) == [], "nothing of it is left in any file, though another has it open")
    }
}
