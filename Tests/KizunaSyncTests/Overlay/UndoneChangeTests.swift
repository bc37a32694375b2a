import KizunaCore
import KizunaPostgREST
import KizunaSync
import KizunaSyncTesting
import Testing

/// Several changes of one row before the first of them is sent.
@Suite struct UndoneChangeTests {
    /// The second write starts from the row after the first write, not from the stored row.
    @Test func aTaskThatIsSetToDoneAndBackReturnsToTheOpenTasks() throws {
        try ReadScene.run(.init(rows: TwoLists.rows)) { scene in
            let (open, done) = (
                scene.watch(TwoLists.list(scene, done: false)), scene.watch(TwoLists.list(scene, done: true))
            )
            await scene.simulation.advance(by: .seconds(1))
            try await scene.client.disableNetwork()
            let task = scene.client.from("tasks")
            for (isDone, wanted) in [(true, ["b"]), (false, ["b", "a"]), (true, ["b"])] {
                try await task.update(["done": isDone]).eq("id", value: "a").execute()
                await scene.simulation.settle()
                #expect(open.emissions.last?.result?.map(\.id) == wanted)
                #expect(done.emissions.last?.result?.map(\.id) == (isDone ? ["c", "a"] : ["c"]))
            }
            try await task.delete().eq("id", value: "a").execute()
            try await task.update(["done": false]).eq("id", value: "a").execute()
            await scene.simulation.settle()
            #expect(open.emissions.last?.result?.map(\.id) == ["b"])
            #expect(done.emissions.last?.result?.map(\.id) == ["c"])
        }
    }
}

extension UndoneChangeTests {
    /// A query that shows the row because of the second change keeps showing the first change after its delivery.
    @Test func aDeliveredChangeStaysVisibleWhileALaterOneIsQueued() throws {
        try ReadScene.run(.init(rows: TwoLists.rows)) { scene in
            let (all, done) = (scene.watch(scene.tasks()), scene.watch(TwoLists.list(scene, done: true)))
            await scene.simulation.advance(by: .seconds(1))
            try await scene.client.disableNetwork()
            let task = scene.client.from("tasks")
            try await task.update(["title": "new"]).eq("id", value: "a").execute()
            try await task.update(["done": true]).eq("id", value: "a").execute()
            await scene.simulation.settle()
            let before = done.emissions.count
            try await scene.client.enableNetwork()
            await scene.simulation.advance(by: .seconds(1))
            for emission in done.emissions[(before - 1)...] {
                #expect(emission.result?.first { $0.id == "a" }?.title == "new", "\(emission.line)")
            }
            #expect(all.emissions.last?.result?.first?.title == "new")
        }
    }
}
