import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

/// The small pieces that hand something from one task to another.
@Suite struct ConcurrencyTests {
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
            let channel = LatestValueChannel<Int>()
            channel.put(1)
            channel.put(2)
            #expect(await outcome { try await channel.next() } == "2")
            let next = simulation.start { try await channel.next() }
            await simulation.settle()
            channel.put(3)
            #expect(await outcome { try await next.value } == "3")
        }
    }

    @Test func aChannelEndsAfterTheValueThatWaits() throws {
        try Simulation.run { _ in
            let channel = LatestValueChannel<Int>()
            channel.put(1)
            channel.finish()
            channel.put(2)
            #expect(await outcome { try await channel.next() } == "1")
            #expect(await outcome { try await channel.next() } == "end")
            #expect(await outcome { try await channel.next() } == "end")
        }
    }

    @Test func aChannelThatFailsThrowsOnceAndThenEnds() throws {
        try Simulation.run { simulation in
            let channel = LatestValueChannel<Int>()
            let next = simulation.start { try await channel.next() }
            await simulation.settle()
            channel.finish(.failure(SyncError(.storage, "gone")))
            #expect(await outcome { try await next.value } == "SyncError")
            #expect(await outcome { try await channel.next() } == "end")
        }
    }

    @Test func aCancelledReaderLeavesTheChannelToTheNext() throws {
        try Simulation.run { simulation in
            let channel = LatestValueChannel<Int>()
            let first = simulation.start { try await channel.next() }
            await simulation.settle()
            first.cancel()
            #expect(await outcome { try await first.value } == "CancellationError")
            channel.put(4)
            #expect(await outcome { try await channel.next() } == "4")
        }
    }

    @Test func aGateLetsEveryoneThroughOnceItIsOpen() throws {
        try Simulation.run { simulation in
            let gate = AsyncGate()
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
            let outcomes = MutationOutcomes()
            outcomes.announce(.delivered([]), for: "nobody waits")
            let first = try outcomes.waiter(for: "a")
            let second = try outcomes.waiter(for: "a")
            let other = try outcomes.waiter(for: "b")
            outcomes.announce(.delivered([.null]), for: "a")
            for waiter in [first, second] {
                let rows = try await waiter.next()?.get()
                #expect(rows == [.null])
            }
            outcomes.end(SyncError(.discarded, "another user"), isFinal: false)
            let withdrawn = try await other.next()
            #expect(throws: SyncError.self) { try withdrawn?.get() }
            _ = try outcomes.waiter(for: "c")
            outcomes.end(SyncError(.closed, "closed"), isFinal: true)
            #expect(throws: SyncError.self) { try outcomes.waiter(for: "d") }
        }
    }

    @Test func effectQueueKeepsTheOrderAndHasOnePerformer() {
        var effectQueue = EffectQueue<Int>()
        #expect(effectQueue.add([]) == false)
        #expect(effectQueue.add([1, 2]) == true)
        #expect(effectQueue.next() == 1)
        #expect(effectQueue.add([3]) == false)
        #expect([effectQueue.next(), effectQueue.next(), effectQueue.next()] == [2, 3, nil])
        #expect(effectQueue.add([4]) == true)
    }
}
