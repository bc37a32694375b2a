internal import KizunaPostgREST
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

struct NumberRow: Codable, Sendable, Equatable {
    var id: Int
}

/// Reads that page until their range is proved to be whole, over a server that cuts answers without a word.
@Suite struct CompletenessTests {
    private static func run(
        rows count: Int, maxRows: Int?, completeness: KizunaCompleteness = .pagesUntilComplete,
        _ body: @escaping @Sendable (ReadScene) async throws -> Void
    ) throws {
        var options = ReadScene.Options()
        options.rows = "[]"
        options.configure = { configuration in
            configuration.completeness = completeness
            configuration.tables = []
        }
        try ReadScene.run(options) { scene in
            let server = SimulatedServer(scene.simulation, tables: [SimulatedTable("numbers")])
            // Inserted backwards, so that the order of insertion is not the key's.
            let rows = (0..<count).reversed().map { #"{"id":\#($0)}"# }
            try server.insert("[\(rows.joined(separator: ","))]", into: "numbers")
            server.latency = .milliseconds(10)
            server.maxRows = maxRows
            scene.transport.serve(server)
            var scene = scene
            scene.server = server
            try await body(scene)
        }
    }

    private static func numbers(_ scene: ReadScene) -> OneShotRead<[NumberRow]> {
        scene.client.from("numbers").select(as: [NumberRow].self)
    }

    @Test func asAnsweredNeverClaimsWhatAnAnswerDoesNotProve() throws {
        try Self.run(rows: 1_500, maxRows: 1_000, completeness: .asAnswered) { scene in
            let all = try await Self.numbers(scene).execute()
            #expect(all.result?.count == 1_000)
            #expect(!all.isComplete)
            let some = try await Self.numbers(scene).limit(10).execute()
            #expect(some.isComplete)
            let cut = try await Self.numbers(scene).limit(1_200).execute()
            #expect(!cut.isComplete)
            let none = try await Self.numbers(scene).eq("id", value: -1).execute()
            #expect(none.isComplete)
            #expect(scene.server.requestCount() == 4)
        }
    }

    @Test(arguments: [1_000, 999])
    func thirteenThousandRowsArePulledWholeWhateverTheCap(maxRows: Int) throws {
        try Self.run(rows: 13_000, maxRows: maxRows) { scene in
            let snapshot = try await Self.numbers(scene).execute()
            #expect(snapshot.result?.map(\.id) == Array(0..<13_000))
            #expect(snapshot.isComplete)
            let cached = try await scene.client.from("numbers").select(
                as: [NumberRow].self, readStrategy: .cacheOnly
            ).execute()
            #expect(cached.result?.count == 13_000)
            #expect(cached.isComplete)
        }
    }

    @Test(arguments: [2, 7])
    func aTinyCapIsOnlySlower(maxRows: Int) throws {
        try Self.run(rows: 40, maxRows: maxRows) { scene in
            let snapshot = try await Self.numbers(scene).execute()
            #expect(snapshot.result?.map(\.id) == Array(0..<40))
            #expect(snapshot.isComplete)
        }
    }

    @Test func aCapThatChangesMidPullLosesNothing() throws {
        try Self.run(rows: 13_000, maxRows: 1_000) { scene in
            let read = scene.simulation.start { try await Self.numbers(scene).execute() }
            await scene.simulation.advance(by: .milliseconds(35))
            scene.server.maxRows = 617
            await scene.simulation.advance(by: .milliseconds(35))
            scene.server.maxRows = 2_048
            let snapshot = try await read.value
            #expect(snapshot.result?.map(\.id) == Array(0..<13_000))
            #expect(snapshot.isComplete)
        }
    }

    @Test func aRowRemovedMidPullBeginsThePullAnew() throws {
        try Self.run(rows: 3_000, maxRows: 1_000) { scene in
            let read = scene.simulation.start { try await Self.numbers(scene).execute() }
            await scene.simulation.advance(by: .milliseconds(15))
            try scene.server.delete("5", of: "numbers")
            let snapshot = try await read.value
            #expect(snapshot.result?.map(\.id) == Array(0..<3_000).filter { $0 != 5 })
            #expect(snapshot.isComplete)
        }
    }

    @Test func rowsThatKeepMovingAreNeverCalledWhole() throws {
        try Self.run(rows: 3_000, maxRows: 1_000) { scene in
            let read = scene.simulation.start { try await Self.numbers(scene).execute() }
            for id in 0..<40 {
                await scene.simulation.advance(by: .milliseconds(10))
                try scene.server.delete("\(id)", of: "numbers")
            }
            let snapshot = try await read.value
            let ids = snapshot.result?.map(\.id) ?? []
            #expect(Set(ids).count == ids.count)
            #expect(!snapshot.isComplete)
        }
    }

    @Test func aWindowAndAnOrderOfItsOwnAreKept() throws {
        try Self.run(rows: 500, maxRows: 60) { scene in
            let read = Self.numbers(scene).order("id", ascending: false).range(from: 100, to: 399)
            let snapshot = try await read.execute()
            #expect(snapshot.result?.map(\.id) == Array((100..<400).reversed()))
            #expect(snapshot.isComplete)
            let beyond = try await Self.numbers(scene).range(from: 450, to: 799).execute()
            #expect(beyond.result?.map(\.id) == Array(450..<500))
            #expect(beyond.isComplete)
        }
    }

    @Test func aLiveReadShowsOneWholeList() throws {
        try Self.run(rows: 2_500, maxRows: 1_000) { scene in
            let watch = scene.watch(scene.client.from("numbers").selectAsSequence(as: [NumberRow].self))
            await scene.simulation.advance(by: .seconds(60))
            #expect(watch.emissions.map(\.fields) == ["cache @never refreshing", "server @0.03 idle complete"])
            #expect(watch.emissions.last?.result?.count == 2_500)
        }
    }

    @Test func aServerThatDoesNotCountIsAskedUntilNothingComesAndProvesNothing() throws {
        try Self.run(rows: 0, maxRows: nil) { scene in
            scene.transport.enqueue(
                .json(#"[{"id":1},{"id":2}]"#), .json(#"[{"id":2},{"id":3}]"#), .json(#"[{"id":3}]"#))
            let snapshot = try await Self.numbers(scene).execute()
            #expect(snapshot.result?.map(\.id) == [1, 2, 3])
            #expect(!snapshot.isComplete)
            #expect(scene.transport.unusedResponseCount == 0)
        }
    }

    @Test func duplicatesByKeyAreTakenOnceAndAServerThatRepeatsItselfIsNotBelieved() throws {
        try Self.run(rows: 0, maxRows: nil) { scene in
            let ranged = ["content-range": "0-2/5"]
            scene.transport.enqueue(
                .json(#"[{"id":1},{"id":2},{"id":2}]"#, headers: ranged),
                .json(#"[{"id":2},{"id":3},{"id":3}]"#, headers: ["content-range": "2-4/5"]))
            let snapshot = try await Self.numbers(scene).execute()
            #expect(snapshot.result?.map(\.id) == [1, 2, 3])
            scene.transport.serve { _ in .json(#"[{"id":1},{"id":2}]"#, headers: ["content-range": "0-1/9"]) }
            let liar = try await Self.numbers(scene).execute()
            #expect(liar.result?.map(\.id) == [1, 2])
            #expect(!liar.isComplete)
        }
    }
}
