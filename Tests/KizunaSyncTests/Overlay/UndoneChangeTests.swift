import KizunaCore
import KizunaPostgREST
import KizunaSync
import KizunaSyncTesting
import Testing

/// Changes of one row that follow each other before any of them is sent.
@Suite struct UndoneChangeTests {
    /// What is stored of a row when the second write is queued says nothing of what the first one made of it.
    @Test func aTaskThatIsTickedAndUntickedComesBack() throws {
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
    /// The first of two changes is delivered; a list that shows the row because of the second one shows the first one too.
    @Test func aDeliveredChangeDoesNotFlickerBackWhereALaterOneShowsTheRow() throws {
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
