import KizunaCore
import KizunaStore
import Synchronization
import Testing

/// A commit of one process is reported to the other as a store change.
@Suite struct SharedChangesTests {
    @Test func queuedMutationsAreReported() async throws {
        let (one, two) = try SharedScene().pair()
        _ = try await one.store.enqueue([try insertion("a"), try insertion("b")], limit: 10)
        let news = try #require(try await two.look())
        #expect(news.queued.map(\.id) == ["insert-a", "insert-b"])
        #expect(news.queueDepth == 2)
        #expect(try await two.store.pendingMutationCount() == 2)
        #expect(try await two.look() == nil, "nothing is told twice")
    }

    @Test func ownCommitsAreNotReportedAsExternal() async throws {
        let scene = try SharedScene()
        let (one, two) = try scene.pair()
        _ = try await one.store.enqueue([try insertion("a")], limit: 10)
        #expect(try await one.look() == nil)
        #expect(one.signal.tellings == 1)
        // A read changes nothing and notifies nobody.
        _ = try await one.store.image(cacheKey: "all", table: tasks, usedAt: day(5))
        #expect(one.signal.tellings == 1)
        _ = try await two.look()
        _ = try await two.store.store(try scene.response(#"[{"id":"a"}]"#, at: two.logicalClock.next()))
        _ = try await two.store.image(cacheKey: "all", table: tasks, usedAt: day(5))
        _ = try await one.look()
        _ = try await two.store.image(cacheKey: "all", table: tasks, usedAt: day(6))
        #expect(try await one.look() == nil)
        #expect(one.news.count == 1)
    }

    /// A change that builds on an external change is reported after it.
    @Test func externalChangesAreReportedBeforeAnOwnTransaction() async throws {
        let (one, two) = try SharedScene().pair()
        _ = try await one.store.enqueue([try insertion("a")], limit: 10)
        _ = try await two.store.enqueue([try insertion("b")], limit: 10)
        #expect(
            two.changes.map { "\($0.isOthers) \($0.queued.map(\.id)) \($0.queueDepth)" } == [
                #"true ["insert-a"] 2"#, #"false ["insert-b"] 2"#,
            ])
    }

    @Test func theLimitOfTheQueueIsSharedByProcesses() async throws {
        let (one, two) = try SharedScene().pair()
        _ = try await one.store.enqueue([try insertion("a"), try insertion("b")], limit: 3)
        let error = await #expect(throws: SyncError.self) {
            try await two.store.enqueue([try insertion("c"), try insertion("d")], limit: 3)
        }
        #expect(error?.code == .queueFull)
        #expect(two.news.count == 1, "what was seen on the way is told all the same")
    }

    @Test func aDeliveryReportsTheMutationAndTheListInOneChange() async throws {
        let scene = try SharedScene()
        let (one, two) = try scene.pair()
        _ = try await one.store.store(try scene.response(#"[{"id":"a","title":"old"}]"#, at: one.logicalClock.next()))
        _ = try await one.store.enqueue([try update("a")], limit: 10)
        _ = try await two.look()
        try await one.store.settle(
            ["update-a"], table: tasks, rows: ["update-a": [try json(#"{"id":"a","title":"new"}"#)]],
            keys: [RowKey(text: "a")]
        ) { _, _ in
            var edit = CachedQueryEdit()
            edit.replaced = [
                .init(key: RowKey(text: "a"), json: RawJSON(unchecked: Array(#"{"id":"a","title":"new"}"#.utf8)))
            ]
            return edit
        }
        let news = try #require(try await two.look())
        #expect(news.ended.map(\.id) == ["update-a"])
        let row = try RawJSON(validating: Array(#"{"id":"a","title":"new"}"#.utf8))
        #expect(news.ended.map(\.fate) == [.delivered([row])])
        guard case .replaced(let list, _) = news.lists["all"] else {
            Issue.record("the list was not told")
            return
        }
        #expect(list.rows.map(\.json.text) == [#"{"id":"a","title":"new"}"#])
        #expect(!list.head.isStale)
    }

    @Test func aRejectionReportsItsReasonAndItsList() async throws {
        let scene = try SharedScene()
        let (one, two) = try scene.pair()
        _ = try await one.store.store(try scene.response("[]", at: one.logicalClock.next()))
        let stored = try await one.store.enqueue([try insertion("a")], limit: 10)
        _ = try await two.look()
        try await one.store.beginSend(["insert-a"])
        #expect(try await one.store.reject([try rejection(stored[0])]) == nil)
        let news = try #require(try await two.look())
        #expect(news.ended.map(\.id) == ["insert-a"])
        #expect(news.rejected.map(\.failure.code) == ["23505"])
        guard case .replaced(let list, _) = news.lists["all"] else {
            Issue.record("the list was not told")
            return
        }
        #expect(list.head.isStale)
        #expect(try await one.store.dismissRejected("insert-a"))
        #expect(try await two.look()?.unrejected == ["insert-a"])
    }

    @Test func aMutationQueuedAgainHasNoOutcome() async throws {
        let (one, two) = try SharedScene().pair()
        let stored = try await one.store.enqueue([try insertion("a")], limit: 10)
        _ = try await two.look()
        try await one.store.beginSend(["insert-a"])
        try await one.store.reject([try rejection(stored[0])])
        _ = try await one.store.requeueRejected("insert-a") { (rejected, _) in [rejected] }
        let news = try #require(try await two.look())
        #expect(news.ended.map(\.id) == ["insert-a"])
        #expect(news.queued.map(\.id) == ["insert-a"])
        #expect(news.rejected.isEmpty)
    }

    @Test func newAttemptsAndNewContentsAreReportedSeparately() async throws {
        let (one, two) = try SharedScene().pair()
        _ = try await one.store.enqueue([try insertion("a"), try insertion("b")], limit: 10)
        _ = try await two.look()
        var folded = try update("a")
        folded.isCompactable = true
        _ = try await one.store.enqueue([folded], limit: 10)
        try await one.store.beginSend(["insert-b"])
        let news = try #require(try await two.look())
        #expect(news.rewritten.map(\.id) == ["insert-a"])
        #expect(news.updated.map { "\($0.id) \($0.maybeSent)" } == ["insert-b true"])
        #expect(news.queued.isEmpty)
    }

    @Test(arguments: [true, false])
    func aClearIsReported(keepingQueue: Bool) async throws {
        let scene = try SharedScene()
        let (one, two) = try scene.pair()
        _ = try await one.store.store(try scene.response(#"[{"id":"a"}]"#, at: one.logicalClock.next()))
        _ = try await one.store.enqueue([try insertion("b")], limit: 10)
        _ = try await two.look()
        let early = two.logicalClock.next()
        try await one.store.clear(keepingQueue: keepingQueue)
        let news = try #require(try await two.look())
        #expect(news.isCleared)
        #expect(news.ended.map(\.id) == (keepingQueue ? [] : ["insert-b"]))
        #expect(news.queueDepth == (keepingQueue ? 1 : 0))
        #expect(try await two.store.store(try scene.response("[]", at: early)) == .olderThanClear)
    }

    @Test func aListThatIsNotShownIsNotLoaded() async throws {
        let scene = try SharedScene()
        let one = try scene.process(1)
        let two = try scene.process(2, shown: [])
        _ = try await one.store.store(try scene.response(#"[{"id":"a"}]"#, at: one.logicalClock.next()))
        let news = try #require(try await two.look())
        #expect(news.lists.isEmpty)
        #expect(news.changedTables == [tasks])
        let image = try await two.store.image(cacheKey: "all", table: tasks, usedAt: day(5))
        #expect(image.list?.rows.map(\.json.text) == [#"{"id":"a"}"#])
    }

    @Test func externalChangesAreReportedBeforeASnapshot() async throws {
        let scene = try SharedScene()
        let (one, two) = try scene.pair()
        _ = try await one.store.enqueue([try insertion("a")], limit: 10)
        let seen = SharedBox<[String]>([])
        try await two.store.deliverSnapshot(cacheKey: "all", table: tasks, usedAt: day(5)) { image in
            seen.value.withLock { $0 = image.entries.map(\.id) }
        }
        #expect(seen.value.withLock { $0 } == ["insert-a"])
        #expect(two.news.map { $0.queued.map(\.id) } == [["insert-a"]])
        #expect(try await two.look() == nil)
    }

    /// Another process moved the rows to other slots.
    @Test func theRowsOfAKeyAreFoundAfterAResponseStoredByAnotherProcess() async throws {
        let scene = try SharedScene()
        let (one, two) = try scene.pair()
        _ = try await two.store.store(try scene.response(#"[{"id":"a","title":"1"}]"#, at: two.logicalClock.next()))
        _ = try await two.store.enqueue([try update("a", id: "first")], limit: 10)
        _ = try await one.store.store(
            try scene.response(#"[{"id":"b","title":"x"},{"id":"a","title":"2"}]"#, at: one.logicalClock.next()))
        _ = try await two.store.enqueue([try update("a", id: "second")], limit: 10)
        let known = two.changes.last?.known[tasks]?[RowKey(text: "a")]??.text
        #expect(known == #"{"id":"a","title":"2"}"#)
    }
}
