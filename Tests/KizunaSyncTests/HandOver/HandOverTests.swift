import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

/// The small pieces that hand something from one task to another.
@Suite struct HandOverTests {
    /// What a call gave, in words.
    private func outcome(_ body: () async throws -> Int?) async -> String {
        do {
            return try await body().map { "\($0)" } ?? "end"
        } catch {
            return "\(type(of: error))"
        }
    }

    @Test func aMailboxGivesTheNewestValueOnceAndThenWaits() throws {
        try Simulation.run { simulation in
            let mailbox = LatestMailbox<Int>()
            mailbox.put(1)
            mailbox.put(2)
            #expect(await outcome { try await mailbox.next() } == "2")
            let next = simulation.start { try await mailbox.next() }
            await simulation.settle()
            mailbox.put(3)
            #expect(await outcome { try await next.value } == "3")
        }
    }

    @Test func aMailboxEndsAfterTheValueThatWaits() throws {
        try Simulation.run { _ in
            let mailbox = LatestMailbox<Int>()
            mailbox.put(1)
            mailbox.finish()
            mailbox.put(2)
            #expect(await outcome { try await mailbox.next() } == "1")
            #expect(await outcome { try await mailbox.next() } == "end")
            #expect(await outcome { try await mailbox.next() } == "end")
        }
    }

    @Test func aMailboxThatFailsThrowsOnceAndThenEnds() throws {
        try Simulation.run { simulation in
            let mailbox = LatestMailbox<Int>()
            let next = simulation.start { try await mailbox.next() }
            await simulation.settle()
            mailbox.finish(.failure(SyncError(.storage, "gone")))
            #expect(await outcome { try await next.value } == "SyncError")
            #expect(await outcome { try await mailbox.next() } == "end")
        }
    }

    @Test func aCancelledReaderLeavesTheMailboxToTheNext() throws {
        try Simulation.run { simulation in
            let mailbox = LatestMailbox<Int>()
            let first = simulation.start { try await mailbox.next() }
            await simulation.settle()
            first.cancel()
            #expect(await outcome { try await first.value } == "CancellationError")
            mailbox.put(4)
            #expect(await outcome { try await mailbox.next() } == "4")
        }
    }

    @Test func aGateLetsEveryoneThroughOnceItIsOpen() throws {
        try Simulation.run { simulation in
            let gate = Gate()
            let passed = Mutex(0)
            for _ in 0..<3 {
                simulation.start {
                    await gate.wait()
                    passed.withLock { $0 += 1 }
                }
            }
            await simulation.settle()
            #expect(passed.withLock { $0 } == 0)
            gate.open()
            gate.open()
            await gate.wait()
            await simulation.settle()
            #expect(passed.withLock { $0 } == 3)
        }
    }

    @Test func aBoardTellsEveryWaiterOfItsOwnWrite() throws {
        try Simulation.run { _ in
            let board = VerdictBoard()
            board.announce(.delivered([]), for: "nobody waits")
            let first = try board.waiter(for: "a")
            let second = try board.waiter(for: "a")
            let other = try board.waiter(for: "b")
            board.announce(.delivered([.null]), for: "a")
            for waiter in [first, second] {
                let rows = try await waiter.next()?.get()
                #expect(rows == [.null])
            }
            board.end(SyncError(.discarded, "another user"), isFinal: false)
            let withdrawn = try await other.next()
            #expect(throws: SyncError.self) { try withdrawn?.get() }
            _ = try board.waiter(for: "c")
            board.end(SyncError(.closed, "closed"), isFinal: true)
            #expect(throws: SyncError.self) { try board.waiter(for: "d") }
        }
    }

    @Test func anOutboxKeepsTheOrderAndHasOnePerformer() {
        var outbox = Outbox<Int>()
        #expect(outbox.add([]) == false)
        #expect(outbox.add([1, 2]) == true)
        #expect(outbox.next() == 1)
        #expect(outbox.add([3]) == false)
        #expect([outbox.next(), outbox.next(), outbox.next()] == [2, 3, nil])
        #expect(outbox.add([4]) == true)
    }
}
