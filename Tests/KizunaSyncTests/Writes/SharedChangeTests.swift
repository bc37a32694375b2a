import KizunaCore
import KizunaPostgREST
import KizunaStore
import KizunaSync
import KizunaSyncTesting
import Testing

/// Adjacent deletes by key, and adjacent updates by key that set the same values, share a request. Each has an outcome of
/// its own.
@Suite struct SharedChangeTests {
    private static func key(_ number: Int) -> String {
        "0190aaaa-0000-7000-8000-0000000000\(number < 10 ? "0" : "")\(number)"
    }

    /// Runs a test with a client whose network is disabled and a server that has these rows.
    private static func run(
        rows: ClosedRange<Int> = 1...6, owner: String? = nil,
        _ body: @escaping @Sendable (WriteWorld, KizunaSyncClient) async throws -> Void
    ) throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            for number in rows {
                try world.server.insert(
                    #"{"id":"\#(key(number))","title":"t\#(number)","done":false}"#, into: "items")
            }
            let client = try await world.client()
            try await client.disableNetwork()
            try await body(world, client)
            await client.close()
        }
    }

    private static func sent(_ world: WriteWorld) -> [String] {
        world.network.sent.map { sent in
            let keys = (1...60).count { sent.request.url.contains(key($0)) }
            return "\(sent.request.method) \(keys)"
        }
    }

    /// The outcomes of the receipts: `ok`, or the code of the rejection.
    private static func outcomes(_ receipts: [WriteReceipt]) async -> [String] {
        var outcomes: [String] = []
        for receipt in receipts {
            do {
                _ = try await receipt.delivered()
                outcomes.append("ok")
            } catch let error as SyncError {
                outcomes.append(error.server?.code ?? error.code.rawValue)
            } catch {
                outcomes.append("\(type(of: error))")
            }
        }
        return outcomes
    }

    private static func delete(_ client: KizunaSyncClient, _ numbers: [Int]) async throws -> [WriteReceipt] {
        var receipts: [WriteReceipt] = []
        for number in numbers {
            receipts.append(try await client.from("items").delete().eq("id", value: key(number)).execute())
        }
        return receipts
    }

    private static func finish(_ client: KizunaSyncClient, _ numbers: [Int]) async throws -> [WriteReceipt] {
        var receipts: [WriteReceipt] = []
        for number in numbers {
            receipts.append(
                try await client.from("items").update(["done": true]).eq("id", value: key(number)).execute())
        }
        return receipts
    }

    @Test func deletesShareARequest() throws {
        try Self.run { world, client in
            let receipts = try await Self.delete(client, [1, 2, 3, 4, 5])
            try await client.enableNetwork()
            #expect(await Self.outcomes(receipts) == Array(repeating: "ok", count: 5))
            #expect(Self.sent(world) == ["DELETE 5"])
            #expect(world.titles == ["t6"])
            let rows = try await receipts[2].delivered().decode(as: Item.self)
            #expect(rows.map(\.title) == ["t3"])
        }
    }

    @Test func updatesOfTheSameValuesShareARequestAndOthersDoNot() throws {
        try Self.run { world, client in
            var receipts = try await Self.finish(client, [1, 2, 3])
            receipts.append(
                try await client.from("items").update(["title": "x"]).eq("id", value: Self.key(4)).execute())
            receipts.append(
                try await client.from("items").update(["done": true]).eq("id", value: Self.key(5)).eq(
                    "title", value: "t5"
                )
                .execute())
            try await client.enableNetwork()
            #expect(await Self.outcomes(receipts) == Array(repeating: "ok", count: 5))
            #expect(Self.sent(world) == ["PATCH 3", "PATCH 1", "PATCH 1"])
            let rows = try await receipts[1].delivered().decode(as: Item.self)
            #expect(rows.map(\.title) == ["t2"])
        }
    }

    @Test func onlyTheUpdateOfAMissingRowIsRejected() throws {
        try Self.run { world, client in
            let receipts = try await Self.finish(client, [1, 9, 2])
            try await client.enableNetwork()
            #expect(await Self.outcomes(receipts) == ["ok", ServerFailure.noRowMatchedCode, "ok"])
            #expect(world.server.mutations.filter { $0.operation == .update }.count == 2)
        }
    }

    @Test func aDeleteOfAMissingRowIsDeliveredWithoutAnotherDelete() throws {
        try Self.run { world, client in
            let receipts = try await Self.delete(client, [1, 8, 9, 2])
            try await client.enableNetwork()
            #expect(await Self.outcomes(receipts) == ["ok", "ok", "ok", "ok"])
            #expect(Self.sent(world) == ["DELETE 4", "GET 2"])
        }
    }

    @Test func sharedChangesAreDeliveredOnceAfterALostResponse() throws {
        try Self.run { world, client in
            world.network.plant(.dropResponse)
            let deletes = try await Self.delete(client, [1, 2, 3])
            try await client.enableNetwork()
            #expect(await Self.outcomes(deletes) == ["ok", "ok", "ok"])
            #expect(Self.sent(world) == ["DELETE 3", "DELETE 3", "GET 3"])
            try await client.disableNetwork()
            world.network.plant(.dropResponse)
            let updates = try await Self.finish(client, [4, 5, 9])
            try await client.enableNetwork()
            // The first request may have changed the third row, so its update is delivered and the lists are fetched.
            #expect(await Self.outcomes(updates) == ["ok", "ok", "ok"])
            #expect(world.server.mutations.count { $0.operation == .delete } == 3)
            #expect(world.titles.sorted() == ["t4", "t5", "t6"])
        }
    }

    @Test func theRejectedDeleteIsFoundByHalving() throws {
        try Self.run { world, client in
            let child = ##"{"id":"0190bbbb-0000-7000-8000-000000000001","item_id":"\##(Self.key(3))","text":"x"}"##
            try world.server.insert(child, into: "notes")
            let receipts = try await Self.delete(client, [1, 2, 3, 4, 5, 6])
            try await client.enableNetwork()
            #expect(await Self.outcomes(receipts) == ["ok", "ok", "23503", "ok", "ok", "ok"])
            #expect(world.titles == ["t3"])
        }
    }

    @Test func aURLHasAtMostAHundredKeys() throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            let client = try await world.client()
            try await client.disableNetwork()
            for number in 1...250 {
                let key = "0190aaaa-0000-7000-8000-000000001\(100 + number)"
                try await client.from("items").delete().eq("id", value: key).execute()
            }
            try await client.enableNetwork()
            try await client.sync()
            let longest = world.network.sent.map(\.request.url.utf8.count).max() ?? 0
            #expect(longest < 4_096)
            #expect(world.network.sent.count { $0.request.method == "DELETE" } == 3)
        }
    }

    @Test func aKeyThatNeedsQuotesIsSentAlone() throws {
        try Simulation.run { simulation in
            let server = SimulatedServer(simulation, tables: [SimulatedTable("things", columns: ["id": .text])])
            let network = ScriptedTransport(simulation)
            network.serve(server)
            for key in ["a,b", "c)d", "plain", "simple"] { try server.insert(#"{"id":"\#(key)"}"#, into: "things") }
            let client = try await simulation.makeClient(network) {
                $0.tables = [KizunaTable("things", columns: ["id": .text])]
            }
            try await client.disableNetwork()
            for key in ["a,b", "c)d", "plain", "simple"] {
                try await client.from("things").delete().eq("id", value: key).execute()
            }
            try await client.enableNetwork()
            try await client.sync()
            #expect(server.rows(of: "things").isEmpty)
            #expect(network.sent.count { $0.request.method == "DELETE" } == 3)
        }
    }

    // MARK: - The machine

    @Test func aChangeThatMatchedNoRowIsSentAloneAndKeepsMaybeSent() {
        var rig = QueueRig()
        let items = (1...3).map { queueItem("d\($0)", "\($0)", makes: false, batch: "delete", maybeSent: true) }
        #expect(rig.handle(.queued(items)) == "send d1+d2+d3")
        #expect(
            rig.handle(.answered(flight: 1, .partly(["d2"]), jitter: 0)) == "note d1?+d3?, deliver d2, send d1, send d3"
        )
        var fresh = QueueRig()
        fresh.handle(.queued((1...2).map { queueItem("d\($0)", "\($0)", makes: false, batch: "delete") }))
        #expect(fresh.handle(.answered(flight: 1, .partly([]), jitter: 0)) == "note d1+d2, send d1, send d2")
    }

    @Test func deletesOfAWriteOnlyTableTravelOneByOne() {
        var rig = QueueRig()
        let deletes = (1...3).map { queueItem("d\($0)", "\($0)", makes: false, batch: "delete", isKeyed: true) }
        rig.handle(.queued([deletes[0]]))
        #expect(rig.handle(.answered(flight: 1, .forbidden(serverFault(403, "42501")), jitter: 0)) == "resend d1")
        #expect(rig.handle(.answered(flight: 1, .delivered, jitter: 0)) == "deliver d1")
        rig.handle(.committed(flight: 1))
        #expect(rig.handle(.queued(Array(deletes[1...]))) == "send d2, send d3")
    }

    @Test func aSecondForbiddenResponseIsARejection() {
        var rig = QueueRig()
        rig.handle(.queued([queueItem("d1", "1", makes: false, isKeyed: true)]))
        let failure = serverFault(403, "42501")
        rig.handle(.answered(flight: 1, .forbidden(failure), jitter: 0))
        #expect(rig.handle(.answered(flight: 1, .rejected(failure), jitter: 0)) == "refuse d1")
    }

    @Test func childrenOfOneParentShareARequestAndTheDeleteOfTheParentWaits() {
        let lists = TableID(name: "lists")
        let parent = RowKey(text: "p")
        let children = (1...3).map {
            queueItem("c\($0)", "\($0)", batch: "insert", parents: [.parent(lists, parent)])
        }
        var rig = QueueRig()
        let delete = queueItem("delete", "p", table: lists, makes: false)
        #expect(rig.handle(.queued(children + [delete])) == "send c1+c2+c3")
        rig.handle(.answered(flight: 1, .delivered, jitter: 0))
        #expect(rig.handle(.committed(flight: 1)) == "send delete")
    }
}
