import KizunaCore
import KizunaStore
import Testing

/// One process holds the lease and sends. Without the lease it may only report a delivery.
@Suite struct SharedSendingTests {
    private func pairWithAWrite() async throws -> (SharedScene, SharedScene.Process, SharedScene.Process) {
        let scene = try SharedScene()
        let (one, two) = try scene.pair()
        _ = try await one.store.enqueue([try insertion("a"), try insertion("b")], limit: 10)
        _ = try await two.look()
        return (scene, one, two)
    }

    @Test func aPersistedSendTakesTheLease() async throws {
        let (scene, one, two) = try await pairWithAWrite()
        #expect(try await one.store.beginSend(["insert-a"]).word == "noted")
        #expect(try await two.store.beginSend(["insert-b"]).word == "elsewhere 10")
        #expect(try await two.store.pendingEntries().map(\.maybeSent) == [true, false], "nothing was noted")
        scene.advance(by: .seconds(4))
        #expect(try await one.store.beginSend(["insert-b"]).word == "noted")
        #expect(try await two.store.beginSend(["insert-b"]).word == "elsewhere 10", "each send makes it longer")
    }

    @Test func aSuspendedHolderLosesTheLeaseWhenItExpires() async throws {
        let (scene, one, two) = try await pairWithAWrite()
        guard case .noted(_, let until?) = try await one.store.beginSend(["insert-a"]) else {
            Issue.record("not noted")
            return
        }
        #expect(until == .seconds(1_008), "a request leaves some time before the end, or not at all")
        scene.advance(by: .milliseconds(9_999))
        #expect(try await two.store.beginSend(["insert-b"]).word == "elsewhere 0")
        scene.advance(by: .milliseconds(1))
        #expect(try await two.store.beginSend(["insert-b"]).word == "noted")
        #expect(try await one.store.beginSend(["insert-a"]).word == "elsewhere 10")
        #expect(try await one.store.renewLease() == nil)
    }

    @Test func aKilledHolderLosesTheLeaseAtOnce() async throws {
        let (scene, one, two) = try await pairWithAWrite()
        try await one.store.beginSend(["insert-a"])
        let told = try await two.look()?.drainer
        #expect(told == .other(.seconds(10)))
        #expect(try await two.look() == nil)
        scene.kill(1)
        #expect(try await two.look()?.drainer == .nobodyElse, "though nothing was committed")
        #expect(try await two.store.beginSend(["insert-b"]).word == "noted")
    }

    @Test func aHolderThatRenewsKeepsTheLease() async throws {
        let (scene, one, two) = try await pairWithAWrite()
        try await one.store.beginSend(["insert-a"])
        for _ in 0..<5 {
            scene.advance(by: .seconds(6))
            #expect(try await one.store.renewLease() != nil)
            #expect(try await two.store.beginSend(["insert-b"]).word == "elsewhere 10")
        }
    }

    @Test func theLeaseIsReleasedWhenTheQueueIsEmpty() async throws {
        let (_, one, two) = try await pairWithAWrite()
        try await one.store.beginSend(["insert-a", "insert-b"])
        for id in ["insert-a", "insert-b"] {
            try await one.store.settle([id], table: tasks, rows: [:], keys: []) { _, _ in CachedQueryEdit() }
        }
        #expect(try await two.look()?.drainer == .nobodyElse)
        _ = try await two.store.enqueue([try insertion("c")], limit: 10)
        #expect(try await two.store.beginSend(["insert-c"]).word == "noted")
    }

    @Test func theLeaseIsReleasedWhenTheQueueRests() async throws {
        let (_, one, two) = try await pairWithAWrite()
        try await one.store.beginSend(["insert-a"])
        try await one.store.sendFailed(
            ["insert-a"], maybeSent: ["insert-a": false], error: "offline", givingLeaseBack: true)
        #expect(try await two.look()?.drainer == .nobodyElse)
        #expect(try await two.store.beginSend(["insert-a"]).word == "noted")
        // The first process does not release the lease of the other one.
        try await one.store.sendFailed(["insert-b"], maybeSent: [:], error: "late", givingLeaseBack: true)
        #expect(try await one.store.beginSend(["insert-b"]).word == "elsewhere 10")
    }

    @Test func theLeaseIsReleasedWhenTheStoreCloses() async throws {
        let (_, one, two) = try await pairWithAWrite()
        try await one.store.beginSend(["insert-a"])
        await one.store.close()
        #expect(try await two.store.beginSend(["insert-b"]).word == "noted")
    }

    /// A process that takes the lease must know which mutations may have been sent.
    @Test func aSendWithAnOutdatedAssumptionIsNotPersisted() async throws {
        let (scene, one, two) = try await pairWithAWrite()
        try await one.store.beginSend(["insert-a"])
        scene.kill(1)
        let note = try await two.store.beginSend(["insert-a"], assuming: ["insert-a": false])
        guard case .changed(let present) = note else {
            Issue.record("\(note)")
            return
        }
        #expect(present.map(\.maybeSent) == [true])
        #expect(two.news.last?.updated.map(\.id) == ["insert-a"], "told before the answer")
        #expect(try await two.store.beginSend(["insert-a"], assuming: ["insert-a": true]).word == "noted")
        #expect(try await two.store.beginSend(["gone"], assuming: ["gone": false]).word == "changed")
    }

    @Test func aProcessWithoutTheLeaseCannotClearMaybeSent() async throws {
        let (scene, one, two) = try await pairWithAWrite()
        try await one.store.beginSend(["insert-a"])
        scene.advance(by: .seconds(11))
        try await two.store.beginSend(["insert-a"])
        try await one.store.sendFailed(["insert-a"], maybeSent: ["insert-a": false], error: "not sent")
        #expect(try await two.store.pendingEntries().first?.maybeSent == true)
        try await two.store.sendFailed(["insert-a"], maybeSent: ["insert-a": false], error: "not sent")
        #expect(try await two.store.pendingEntries().first?.maybeSent == false)
    }

    @Test func aProcessWithoutTheLeaseRejectsNothing() async throws {
        let (scene, one, two) = try await pairWithAWrite()
        try await one.store.beginSend(["insert-a"])
        scene.advance(by: .seconds(11))
        try await two.store.beginSend(["insert-a"])
        #expect(try await one.store.reject([try rejection(try insertion("a"))]) == .other(.seconds(10)))
        scene.kill(2)
        #expect(try await one.store.reject([try rejection(try insertion("a"))]) == .nobodyElse)
        #expect(try await one.store.rejectedEntries().isEmpty)
        #expect(try await one.store.reject([try rejection(try insertion("a"))], mayClaim: true) == nil)
        #expect(try await one.store.rejectedEntries().map(\.entry.id) == ["insert-a"])
    }

    /// The server has accepted the mutation, and the lease does not change that.
    @Test func aProcessWithoutTheLeaseStillDelivers() async throws {
        let (scene, one, two) = try await pairWithAWrite()
        try await one.store.beginSend(["insert-a"])
        scene.advance(by: .seconds(11))
        try await two.store.beginSend(["insert-b"])
        try await one.store.settle(["insert-a"], table: tasks, rows: [:], keys: []) { _, _ in CachedQueryEdit() }
        #expect(try await two.store.pendingEntries().map(\.id) == ["insert-b"])
        #expect(try await one.store.beginSend(["insert-b"]).word == "elsewhere 10", "it took nothing away")
    }

    @Test func theLeaseNeedsNoCommitOfItsOwn() async throws {
        let scene = try SharedScene()
        let one = try scene.process(1)
        _ = try await one.store.enqueue([try insertion("a"), try insertion("b")], limit: 10)
        try await one.store.beginSend(["insert-a"])
        try await one.store.settle(["insert-a"], table: tasks, rows: [:], keys: []) { _, _ in CachedQueryEdit() }
        #expect(one.signal.tellings == 3, "one for each of the three calls")
        let before = await one.store.statementsRun
        _ = try await one.store.enqueue([try insertion("c")], limit: 10)
        #expect(await one.store.statementsRun - before == 1)
    }
}
