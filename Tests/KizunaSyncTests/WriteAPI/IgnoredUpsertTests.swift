import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

/// An upsert that ignores duplicates.
@Suite struct IgnoredUpsertTests {
    @Test func theExistingRowIsFetchedWhenAListDoesNotHoldIt() throws {
        try ReadScene.run { scene in
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(1))
            // Another device inserts the row first.
            try scene.server.insert(#"{"id":"k","title":"theirs","done":false}"#, into: "tasks")
            let rows = [TaskRow(id: "k", title: "mine", done: false), TaskRow(id: "n", title: "new", done: false)]
            let receipt = try await scene.client.from("tasks").upsert(rows, ignoreDuplicates: true)
            await scene.simulation.settle()
            #expect(watch.lines.last == "[one, two, mine, new] server @0.05 pending idle")
            #expect(try await receipt.delivered().decode(as: TaskRow.self) == [rows[1]])
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.emissions.last?.result?.map(\.title) == ["one", "two", "theirs", "new"])
            #expect(watch.emissions.last?.isFromCache == false)
            #expect(scene.readTimes.count == 2)
        }
    }

    @Test func aListThatHoldsTheRowIsNotFetched() throws {
        try ReadScene.run { scene in
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(1))
            let mine = TaskRow(id: "a", title: "mine", done: false)
            try await scene.client.from("tasks").upsert(mine, ignoreDuplicates: true).delivered()
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.lines.last == "[one, two] server @0.05 idle")
            #expect(scene.readTimes == [0])
        }
    }
}
