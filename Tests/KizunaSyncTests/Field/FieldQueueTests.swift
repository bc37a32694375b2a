import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

/// Queue failures of other libraries, by the row numbers of docs/field-failures.md.
@Suite struct FieldQueueTests {
    private static let down = SimulatedRejection(503, code: "PGRST001", message: "no connection to the database")

    /// The virtual seconds at which POST requests were sent.
    private static func postTimes(_ world: WriteWorld) -> [Double] {
        world.network.sent.filter { $0.request.method == "POST" }.map { $0.sentAt.seconds }
    }

    @Test func row09EachFailureSchedulesItsOwnNextAttempt() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            world.network.serve { _ in .fail(WireFailure(.notSent, "no connection")) }
            let client = try await world.client()
            _ = try await client.from("items").insert(NewItem(title: "waits"))
            await simulation.advance(by: .seconds(100))
            let waits = zip(Self.postTimes(world).dropFirst(), Self.postTimes(world)).map { $0 - $1 }
            let scheduled = [0.3, 0.9, 2.4, 5, 15, 60]
            #expect(waits.count >= 5)
            for (wait, most) in zip(waits, scheduled) { #expect(wait > 0 && wait <= most + 0.001, "\(waits)") }
            world.network.serve(world.server)
            await simulation.advance(by: .seconds(60))
            #expect(world.titles == ["waits"])
        }
    }

    @Test func row10ARejectedWriteLeavesTheQueueAndTheOthersSurviveARestart() throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let world = WriteWorld(simulation)
                world.network.isOnline = false
                let client = try await world.client(folder: folder)
                _ = try await client.from("items").insert(NewItem(title: ""))
                for count in 1...5 { _ = try await client.from("items").insert(NewItem(title: "write \(count)")) }
                await simulation.advance(by: .seconds(30))
                await client.close()
                world.network.isOnline = true
                let next = try await world.client(folder: folder)
                await simulation.advance(by: .seconds(60))
                #expect(world.titles.sorted() == (1...5).map { "write \($0)" })
                let rejected = try await WriteWorld.first(next.rejectedMutations)
                #expect(rejected?.count == 1)
                #expect(rejected?.first?.failure.code == "23514")
                #expect(rejected?.first?.failure.constraint == "title_not_empty")
                let depth = try await next.outboxDepth()
                #expect(depth == 0)
            }
        }
    }

    @Test func row12EachWriteHasItsOwnOutcome() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            world.network.isOnline = false
            let client = try await world.client()
            var receipts: [WriteReceipt] = []
            for title in ["one", "", "three", "four"] {
                receipts.append(try await client.from("items").insert(NewItem(title: title)))
            }
            world.network.isOnline = true
            await simulation.advance(by: .seconds(60))
            var outcomes: [Bool] = []
            for receipt in receipts {
                do {
                    try await receipt.delivered()
                    outcomes.append(true)
                } catch let error as SyncError where error.code == .rejected {
                    outcomes.append(false)
                }
            }
            #expect(outcomes == [true, false, true, true])
            #expect(world.titles.sorted() == ["four", "one", "three"])
        }
    }

    @Test func row13TenOfflineStartsDoNotChangeTheQueue() throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let world = WriteWorld(simulation)
                world.network.isOnline = false
                let first = try await world.client(folder: folder)
                for count in 1...3 { _ = try await first.from("items").insert(NewItem(title: "write \(count)")) }
                await first.close()
                for _ in 1...10 {
                    let again = try await world.client(folder: folder)
                    await simulation.advance(by: .seconds(5))
                    let depth = try await again.outboxDepth()
                    #expect(depth == 3)
                    await again.close()
                }
                world.network.isOnline = true
                _ = try await world.client(folder: folder)
                await simulation.advance(by: .seconds(60))
                #expect(world.titles.sorted() == ["write 1", "write 2", "write 3"])
                #expect(world.server.mutations.count == 3)
            }
        }
    }

    @Test func row16NoNumberOfFailuresDeletesAWrite() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            world.network.isOnline = false
            let client = try await world.client()
            _ = try await client.from("items").insert(NewItem(title: "first"))
            await simulation.advance(by: .seconds(86_400))
            _ = try await client.from("items").insert(NewItem(title: "second"))
            world.network.isOnline = true
            await simulation.advance(by: .seconds(60))
            #expect(world.titles.sorted() == ["first", "second"])
        }
    }

    @Test func row17SyncAsTheFirstCallSendsTheQueueOfAnEarlierProcess() throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let world = WriteWorld(simulation)
                world.network.isOnline = false
                let before = try await world.client(folder: folder)
                _ = try await before.from("items").insert(NewItem(title: "left behind"))
                await before.close()
                world.network.isOnline = true
                let client = try await world.client(folder: folder)
                try await client.sync()
                #expect(world.titles == ["left behind"])
            }
        }
    }

    @Test func row20NoTransientFailureRemovesAWriteFromTheQueue() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            let client = try await world.client()
            let responses: [ScriptedResponse] = [
                .json(#"{"code":"PGRST001","message":"down"}"#, status: 503), .json("{}", status: 429),
                .json("<html>", status: 502), .fail(WireFailure(.notSent, "timed out")),
                .fail(WireFailure(.outcomeUnknown, "timed out")), .json("", status: 504), .json("{}", status: 408),
            ]
            world.network.serve { [count = Counter()] _ in responses[count.next() % responses.count] }
            for count in 1...3 { _ = try await client.from("items").insert(NewItem(title: "write \(count)")) }
            for _ in 1...60 {
                await simulation.advance(by: .seconds(60))
                let depth = try await client.outboxDepth()
                #expect(depth == 3)
            }
            world.network.serve(world.server)
            await simulation.advance(by: .seconds(700))
            #expect(world.titles.sorted() == ["write 1", "write 2", "write 3"])
        }
    }

    @Test func row22ALongQueueIsSentInFewRequestsWithinTheServersLimits() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            world.network.isOnline = false
            let client = try await world.client()
            for part in 0..<8 {
                _ = try await client.from("items").insert((0..<500).map { NewItem(title: "row \(part * 500 + $0)") })
            }
            let server = world.server
            world.network.serve { request in
                guard request.method == "POST", let body = request.body else {
                    return .respond(server.respond(to: request))
                }
                let rows = (try? JSONDecoder().decode([Item].self, from: Data(body)).count) ?? 1
                guard rows <= 400, body.count <= 1_000_000 else { return .json("{}", status: 413) }
                return .respond(server.respond(to: request))
            }
            world.network.isOnline = true
            let before = Self.postTimes(world).count
            await simulation.advance(by: .seconds(120))
            let depth = try await client.outboxDepth()
            #expect(depth == 0)
            #expect(world.titles.count == 4_000)
            #expect(Set(world.titles).count == 4_000)
            // Four requests are sent before the first response; after each 413 a request has half the rows.
            #expect(Self.postTimes(world).count - before <= 4 + 18)
        }
    }
}

/// Counts calls.
private final class Counter: Sendable {
    private let value = Mutex(0)

    func next() -> Int {
        value.withLock { value in
            defer { value += 1 }
            return value
        }
    }
}
