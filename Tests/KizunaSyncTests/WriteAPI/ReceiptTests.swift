import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

/// Waits of receipts: for many mutations, by several waiters, and by waiters that are cancelled.
@Suite struct ReceiptTests {
    @Test func aReceiptOfManyRowsReturnsAllWhenOneRequestIsSlow() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            let client = try await world.client()
            let posts = Counter()
            world.network.serve { request in
                if request.method == "POST", posts.next() == 1 {
                    return .after(.seconds(8), .respond(world.server.respond(to: request)))
                }
                return .respond(world.server.respond(to: request))
            }
            let receipt = try await client.from("items").insert((1...4_000).map { NewItem(title: "\($0)") })
            #expect(try await receipt.delivered().rows.count == 4_000)
        }
    }

    @Test func oneOfSeveralWaitersCanBeCancelled() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            world.network.isOnline = false
            let client = try await world.client()
            let receipt = try await client.from("items").insert([NewItem(title: "a"), NewItem(title: "b")])
            let waiting = (1...3).map { _ in simulation.start { try await receipt.delivered().rows.count } }
            await simulation.settle()
            waiting[0].cancel()
            await #expect(throws: CancellationError.self) { try await waiting[0].value }
            world.network.isOnline = true
            try await client.sync()
            #expect(try await waiting[1].value == 2)
            #expect(try await waiting[2].value == 2)
            #expect(try await receipt.delivered().rows.count == 2)
        }
    }

    @Test func waitersAreRemovedWhenTheyLeave() throws {
        let outcomes = MutationOutcomes()
        let waiters = try [outcomes.waiter(for: "a"), outcomes.waiter(for: "a"), outcomes.waiter(for: "b")]
        outcomes.leave(waiters[0], for: "a")
        #expect(outcomes.waiterCount == 2)
        outcomes.announce(.delivered([]), for: "a")
        outcomes.leave(waiters[1], for: "a")
        outcomes.leave(waiters[2], for: "b")
        #expect(outcomes.waiterCount == 0)
    }
}

private final class Counter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
