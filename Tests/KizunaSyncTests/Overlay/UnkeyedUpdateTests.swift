import KizunaCore
import KizunaPostgREST
import KizunaSync
import KizunaSyncTesting
import Testing

/// Unkeyed updates move rows between queries as keyed updates do (docs/spec/reads.md, Overlay).
@Suite struct UnkeyedUpdateTests {
    @Test func anUnkeyedUpdateMovesRowsIntoAnotherQuery() throws {
        try withTemporaryFolder { folder in
            try ReadScene.run(.init(rows: TwoLists.rows, folder: folder)) { scene in
                let (open, done) = (
                    scene.watch(TwoLists.list(scene, done: false)), scene.watch(TwoLists.list(scene, done: true))
                )
                await scene.simulation.advance(by: .seconds(1))
                try await scene.client.disableNetwork()
                try await scene.client.from("tasks").update(["done": true]).eq("title", value: "one").execute()
                await scene.simulation.settle()
                #expect(open.lines.last == "[two] server @0.05 pending idle")
                #expect(done.lines.last == "[one, one] server @0.05 pending idle")
                // A read that starts while the mutation is queued shows the same rows.
                let stored = scene.client.from("tasks").select(as: [TaskRow].self, readStrategy: .cacheOnly)
                #expect(try await stored.eq("done", value: true).execute().result?.map(\.id) == ["c", "a"])
                try await scene.client.enableNetwork()
                await scene.simulation.advance(by: .seconds(1))
                #expect(open.emissions.last?.result?.map(\.id) == ["b"])
                #expect(done.emissions.last?.result?.map(\.id).sorted() == ["a", "c"])
                #expect(done.emissions.last?.hasPendingMutations == false)
            }
        }
    }

    @Test func anUnkeyedUpdateAlsoMovesRowsThatMatchBecauseOfAnEarlierMutation() throws {
        try ReadScene.run(.init(rows: TwoLists.rows)) { scene in
            let (open, done) = (
                scene.watch(TwoLists.list(scene, done: false)), scene.watch(TwoLists.list(scene, done: true))
            )
            await scene.simulation.advance(by: .seconds(1))
            try await scene.client.disableNetwork()
            try await scene.client.write { tx in
                try tx.update("tasks", ["title": "one"]) { $0.eq("id", value: "b") }
                try tx.update("tasks", ["done": true]) { $0.eq("title", value: "one") }
            }
            await scene.simulation.settle()
            #expect(open.emissions.last?.result == [])
            #expect(done.emissions.last?.result?.map(\.id) == ["c", "a", "b"])
            try await scene.client.from("tasks").update(["done": false]).everyRow().execute()
            await scene.simulation.settle()
            #expect(done.emissions.last?.result == [])
            #expect(open.emissions.last?.result?.map(\.id).sorted() == ["a", "b", "c"])
        }
    }
}
