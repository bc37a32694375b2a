internal import KizunaPostgREST
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

struct TaskRow: Codable, Sendable, Equatable {
    var id: String
    var title: String
    var done: Bool
}

@Suite struct FirstLightTests {
    @Test func aColdReadShowsNothingThenTheServersRows() throws {
        try Simulation.run { simulation in
            let transport = ScriptedTransport(simulation) { _ in
                .after(.milliseconds(50), .json(#"[{"id":"a","title":"one","done":false}]"#))
            }
            let client = try await simulation.makeClient(transport)
            let iterator = client.from("tasks").selectAsSequence(as: [TaskRow].self).eq("done", value: false)
                .makeAsyncIterator()
            let first = try await iterator.next()
            #expect(first?.result == nil)
            #expect(first?.refresh == .refreshing)
            let second = try await iterator.next()
            #expect(second?.result == [TaskRow(id: "a", title: "one", done: false)])
            #expect(second?.refresh == .idle)
            #expect(second?.isFromCache == false)
            #expect(
                transport.sent.map(\.request.url) == ["https://project.example/rest/v1/tasks?select=%2A&done=eq.false"])
        }
    }

    @Test func anOfflineInsertShowsAtOnceAndIsDeliveredOnce() throws {
        try Simulation.run { simulation in
            let transport = ScriptedTransport(simulation) { request in
                switch request.method {
                case "POST": .json(String(decoding: request.body ?? [], as: UTF8.self), status: 201)
                default: .json("[]")
                }
            }
            transport.isOnline = false
            let client = try await simulation.makeClient(transport)
            let iterator = client.from("tasks").selectAsSequence(as: [TaskRow].self).makeAsyncIterator()
            #expect(try await iterator.next()?.result == nil)
            let receipt = try await client.from("tasks").insert(NewTask(title: "x", done: false))
            await simulation.settle()
            let shown = try await iterator.next()
            #expect(shown?.result?.map(\.title) == ["x"])
            #expect(shown?.hasPendingMutations == true)
            #expect(shown?.result?.map(\.id) == receipt.rowIDs)
            transport.isOnline = true
            let rows = try await receipt.delivered()
            #expect(try rows.decode(as: TaskRow.self).map(\.title) == ["x"])
            #expect(transport.sent.filter { $0.request.method == "POST" && $0.leftDevice }.count == 1)
        }
    }

    @Test func aLostAnswerIsVerifiedByKey() throws {
        try Simulation.run { simulation in
            let rows = Mutex<[String]>([])
            let transport = ScriptedTransport(simulation) { request in
                switch request.method {
                case "POST":
                    let body = String(decoding: request.body ?? [], as: UTF8.self)
                    return rows.withLock { rows in
                        guard rows.isEmpty else {
                            return .json(
                                #"{"code":"23505","message":"duplicate key value violates unique constraint \"tasks_pkey\""}"#,
                                status: 409)
                        }
                        rows.append(body)
                        return .json(body, status: 201)
                    }
                default: return .json(rows.withLock { $0.first ?? "[]" })
                }
            }
            let client = try await simulation.makeClient(transport)
            transport.plant(.dropAnswer)
            let receipt = try await client.from("tasks").insert(NewTask(title: "x", done: false))
            let delivered = try await receipt.delivered()
            #expect(delivered.rows.count == 1)
            #expect(transport.sent.map(\.request.method) == ["POST", "POST", "GET"])
            await client.close()
        }
    }
}

struct NewTask: Encodable, Sendable {
    var title: String
    var done: Bool
}
