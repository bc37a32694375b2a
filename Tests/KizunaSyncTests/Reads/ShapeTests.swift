import KizunaCore
import KizunaPostgREST
import KizunaSync
import KizunaSyncTesting
import Testing

/// Requests whose answers the store cannot hold: one row, CSV, counts, headers alone, and others.
@Suite struct LiveShapeTests {
    private static func single(_ scene: ReadScene, _ strategy: SequenceReadStrategy) -> QuerySnapshotSequence<TaskRow> {
        scene.client.from("tasks").selectAsSequence(as: TaskRow.self, readStrategy: strategy).eq("id", value: "a")
            .single()
    }

    @Test(arguments: [SequenceReadStrategy.cacheFirstThenNetwork, .networkFirstThenCache])
    func onlineTheAnswerComesOnceIdleAndTheReadCompletes(strategy: SequenceReadStrategy) throws {
        try ReadScene.run { scene in
            let watch = scene.watch(Self.single(scene, strategy))
            await scene.simulation.advance(by: .seconds(3600))
            #expect(watch.emissions.map(\.result) == [TaskRow(id: "a", title: "one", done: false)])
            #expect(watch.emissions.map(\.fields) == ["server @0.05 idle"])
            #expect(watch.end == "completed")
            #expect(scene.readTimes == [0])
        }
    }

    @Test(arguments: [SequenceReadStrategy.cacheFirstThenNetwork, .networkFirstThenCache])
    func offlineItFails(strategy: SequenceReadStrategy) throws {
        try ReadScene.run { scene in
            scene.transport.isOnline = false
            let watch = scene.watch(Self.single(scene, strategy))
            await scene.simulation.advance(by: .seconds(1))
            try await scene.client.disableNetwork()
            let disabled = scene.watch(Self.single(scene, strategy))
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.emissions.isEmpty)
            #expect(watch.end == "connectivity")
            #expect(disabled.end == "network_disabled")
            #expect(scene.readTimes == [0])
        }
    }

    @Test func cacheOnlyFailsAtOnceAndSendsNothing() throws {
        try ReadScene.run { scene in
            let shapes = [
                scene.client.from("tasks").selectAsSequence(as: String.self, readStrategy: .cacheOnly).csv(),
                scene.client.from("tasks").selectAsSequence(as: String.self, readStrategy: .cacheOnly).single(),
                scene.client.from("tasks").selectAsSequence(as: String.self, readStrategy: .cacheOnly).maybeSingle(),
                scene.client.from("tasks").selectAsSequence(as: String.self, readStrategy: .cacheOnly).geojson(),
                scene.client.from("tasks").selectAsSequence(as: String.self, readStrategy: .cacheOnly).explain(),
                scene.client.from("tasks").selectAsSequence(as: String.self, readStrategy: .cacheOnly).stripNulls(),
                scene.client.from("tasks").selectAsSequence(as: String.self, readStrategy: .cacheOnly).dryRun(),
                scene.client.from("tasks").selectAsSequence(as: String.self, readStrategy: .cacheOnly)
                    .select(count: .exact),
                scene.client.from("tasks").selectAsSequence(as: String.self, readStrategy: .cacheOnly)
                    .select(head: true),
            ]
            let watches = shapes.map { scene.watch($0) }
            await scene.simulation.settle()
            #expect(watches.map(\.end) == Array(repeating: "cache_miss", count: 9))
            #expect(scene.transport.sent.isEmpty)
        }
    }

    @Test func itWaitsForTheSessionAndCompletesWhenTheClientCloses() throws {
        var options = ReadScene.Options()
        options.initialSession = .restoring
        try ReadScene.run(options) { scene in
            let closed = scene.watch(Self.single(scene, .cacheFirstThenNetwork))
            await scene.simulation.advance(by: .seconds(1))
            #expect(closed.end == nil)
            await scene.client.close()
            await scene.simulation.settle()
            #expect(closed.end == "completed")
            #expect(closed.emissions.isEmpty)
            #expect(scene.transport.sent.isEmpty)
        }
    }

    @Test func aCountIsALiveReadOfItsOwnWithTheNumberBesideTheRows() throws {
        try ReadScene.run { scene in
            let watch = scene.watch(scene.tasks().select(count: .exact).limit(1))
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.lines == ["[one] server @0.05 idle count=2"])
            #expect(watch.end == "completed")
        }
    }
}

@Suite struct OneShotShapeTests {
    private func code<Value>(_ read: OneShotRead<Value>) async -> String {
        do {
            _ = try await read.execute()
            return "none"
        } catch let error as SyncError {
            return error.code.rawValue
        } catch {
            return "\(type(of: error))"
        }
    }

    @Test func singleDecodesTheObject() throws {
        try ReadScene.run { scene in
            let read = scene.client.from("tasks").select(as: TaskRow.self).eq("id", value: "b").single()
            let snapshot = try await read.execute()
            #expect(snapshot.result == TaskRow(id: "b", title: "two", done: false))
            #expect(snapshot.fields == "server @0.05 idle")
        }
    }

    @Test func singleOfNoneOrManyIsTheServersError() throws {
        try ReadScene.run { [self] scene in
            let none = await code(scene.client.from("tasks").select(as: TaskRow.self).eq("id", value: "z").single())
            let many = await code(scene.client.from("tasks").select(as: TaskRow.self).single())
            let manyMaybe = await code(scene.client.from("tasks").select(as: TaskRow.self).maybeSingle())
            #expect([none, many, manyMaybe] == ["server", "server", "server"])
        }
    }

    @Test func maybeSingleOfNoneIsNil() throws {
        try ReadScene.run { scene in
            let read = scene.client.from("tasks").select(as: TaskRow.self).eq("id", value: "z").maybeSingle()
            let snapshot = try await read.execute()
            #expect(snapshot.result == nil)
            #expect(snapshot.fields == "server @0.05 idle")
        }
    }

    @Test func csvIsText() throws {
        try ReadScene.run { [self] scene in
            let snapshot = try await scene.client.from("tasks").select("id,title", as: String.self).csv().execute()
            #expect(snapshot.result == "id,title\na,one\nb,two")
            let code = await code(scene.client.from("tasks").select(as: [TaskRow].self).csv())
            #expect(code == "decoding")
        }
    }

    @Test func countAndHeadTellTheNumber() throws {
        try ReadScene.run { scene in
            let counted = try await scene.once().select(count: .exact).limit(1).execute()
            #expect(counted.line == "[one] server @0.05 idle count=2")
            let head = try await scene.once().select(head: true, count: .exact).execute()
            #expect(head.line == "nil server @0.1 idle count=2")
            #expect(scene.transport.sent.map(\.request.method) == ["GET", "HEAD"])
        }
    }

    @Test func nothingOfAnotherShapeIsCachedOrAnsweredOffline() throws {
        try ReadScene.run { [self] scene in
            _ = try await scene.once().select(count: .exact).execute()
            scene.transport.isOnline = false
            for strategy in ReadStrategy.allCases {
                let read = scene.once(strategy).select(count: .exact)
                let code = await code(read)
                #expect(code == (strategy == .cacheOnly ? "cache_miss" : "connectivity"))
            }
            #expect(await scene.outcome(.cacheOnly) == "cache_miss")
        }
    }

    @Test func anObjectWhereRowsWereCountedIsNoResponse() throws {
        try ReadScene.run { [self] scene in
            scene.transport.enqueue(.json(#"{"message":"hello"}"#), .json("[]"))
            let rows = await code(scene.once().select(count: .exact))
            let object = await code(scene.client.from("tasks").select(as: TaskRow.self).single())
            #expect([rows, object] == ["malformed_answer", "malformed_answer"])
        }
    }
}
