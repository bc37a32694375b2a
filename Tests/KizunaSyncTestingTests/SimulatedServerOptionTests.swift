import KizunaCore
import KizunaSyncTesting
import Testing

@Suite struct SimulatedServerOptionTests {
    @Test func aURLOverTheLimitIsRejected() throws {
        try Simulation.run { simulation in
            let server = SimulatedServer(simulation, tables: [SimulatedTable("tasks")])
            server.maxURLLength = 60
            let caller = Caller(server: server)
            #expect(caller.send("GET", "tasks").status == 200)
            #expect(caller.send("GET", "tasks?title=eq." + String(repeating: "a", count: 40)).status == 414)
        }
    }

    private static func tables(cascading: Set<String>) -> [SimulatedTable] {
        [
            SimulatedTable("lists"),
            SimulatedTable("tasks", references: ["list_id": "lists"], cascadingColumns: cascading),
            SimulatedTable("notes", references: ["task_id": "tasks"], cascadingColumns: ["task_id"]),
        ]
    }

    private func deletions(cascading: Set<String>) throws -> [String] {
        try Simulation.run { simulation in
            let server = SimulatedServer(simulation, tables: Self.tables(cascading: cascading))
            try server.insert(#"[{"id":1},{"id":2}]"#, into: "lists")
            try server.insert(#"[{"id":1,"list_id":1},{"id":2,"list_id":2},{"id":3,"list_id":1}]"#, into: "tasks")
            try server.insert(#"[{"id":1,"task_id":3}]"#, into: "notes")
            let status = Caller(server: server).send("DELETE", "lists?id=eq.1").status
            return ["\(status)"]
                + server.mutations.filter { $0.operation == .delete }.map { "\($0.table) \($0.key)" }
        }
    }

    @Test func aCascadingDeleteDeletesTheReferringRows() throws {
        #expect(try deletions(cascading: ["list_id"]) == ["204", "lists 1", "tasks 1", "tasks 3", "notes 1"])
    }

    @Test func aDeleteWithoutCascadeIsRejectedWhole() throws {
        #expect(try deletions(cascading: []) == ["409"])
    }
}
