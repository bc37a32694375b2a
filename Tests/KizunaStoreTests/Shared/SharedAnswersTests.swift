import KizunaCore
import KizunaStore
import Testing

/// Answers of the server that several processes store, and the room they take.
@Suite struct SharedAnswersTests {
    @Test func anAnswerAskedForBeforeTheOthersDeliveryIsRefused() async throws {
        let scene = try SharedScene()
        let (one, two) = try scene.pair()
        let early = two.ticks.next()
        _ = try await one.vault.enqueue([try insertion("a")], limit: 10)
        try await one.vault.settle(["insert-a"], table: tasks, rows: [:], keys: []) { _, _ in ListEdit() }
        #expect(try await two.vault.store(try scene.answer("[]", at: early)) == .olderThanTable)
        #expect(try await two.vault.store(try scene.answer("[]", at: two.ticks.next())) == .stored)
    }

    @Test func anAnswerTheOtherStoredRefusesNone() async throws {
        let scene = try SharedScene()
        let (one, two) = try scene.pair()
        let early = two.ticks.next()
        _ = try await one.vault.store(try scene.answer(#"[{"id":"a"}]"#, at: one.ticks.next()))
        #expect(try await two.vault.store(try scene.answer("[]", at: early)) == .stored)
    }

    @Test func anAnswerThatTheOthersNewerOneOvertookIsSuperseded() async throws {
        let scene = try SharedScene()
        let (one, two) = try scene.pair()
        let early = try scene.answer(#"[{"id":"old"}]"#, at: two.ticks.next())
        scene.advance(by: .milliseconds(1))
        _ = try await one.vault.store(try scene.answer(#"[{"id":"new"}]"#, at: one.ticks.next()))
        #expect(try await two.vault.store(early) == .superseded)
        #expect(texts(try await two.vault.list(cacheKey: "all", usedAt: day(5))) == [#"{"id":"new"}"#])
    }

    @Test func anInstantFromBeforeARebootSupersedesNothing() async throws {
        let scene = try SharedScene()
        let (one, two) = try scene.pair()
        let late = try scene.answer(#"[{"id":"a"}]"#, asked: .seconds(90_000), at: one.ticks.next())
        _ = try await one.vault.store(late)
        #expect(try await two.vault.store(try scene.answer("[]", at: two.ticks.next())) == .stored)
    }

    @Test func aListTheOtherUsedLastIsNotRemovedWhileItRuns() async throws {
        let scene = try SharedScene()
        let (one, two) = try scene.pair()
        _ = try await one.vault.store(try scene.answer(#"[{"id":"a"}]"#, at: one.ticks.next()))
        #expect(try await two.vault.evict(maximumBytes: 0, maximumLists: 0, keeping: []) == 0)
        scene.kill(1)
        #expect(try await two.vault.evict(maximumBytes: 0, maximumLists: 0, keeping: []) == 1)
    }

    @Test func aShownListThatTheOtherRemovedIsToBeFetchedAgain() async throws {
        let scene = try SharedScene()
        let (one, two) = try scene.pair()
        _ = try await one.vault.store(try scene.answer(#"[{"id":"a"}]"#, at: one.ticks.next()))
        _ = try await two.look()
        #expect(try await one.vault.evict(maximumBytes: 0, maximumLists: 0, keeping: []) == 1)
        let news = try #require(try await two.look())
        guard case .edited(let edit) = news.lists["all"] else {
            Issue.record("the removal was not told")
            return
        }
        #expect(edit.becomesStale && edit.removed.isEmpty)
    }

    @Test func readingGoesOnWhileAnotherHoldsTheFile() async throws {
        let scene = try SharedScene()
        let one = try scene.process(1)
        _ = try await one.vault.store(try scene.answer(#"[{"id":"a"}]"#, at: one.ticks.next()))
        let other = try RawStore(scene.path)
        try other.execute("BEGIN IMMEDIATE")
        let image = try await one.vault.image(cacheKey: "all", table: tasks, usedAt: day(5))
        #expect(image.list?.rows.count == 1)
        try other.execute("ROLLBACK")
        other.close()
    }
}
