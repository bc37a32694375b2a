import KizunaCore
import KizunaPostgREST
import KizunaSync
import KizunaSyncTesting
import Testing

/// The delivery of updates that give a row another key, and the lists that show them.
@Suite struct KeyChangeDeliveryTests {
    private static func move(_ scene: ReadScene, _ from: String, _ to: String) async throws -> WriteReceipt {
        try await scene.client.from("tasks").update(["id": to]).eq("id", value: from).execute()
    }

    @Test func theRowIsShownUnderItsNewKeyBeforeAndAfterTheOutcome() throws {
        try ReadScene.run { scene in
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(1))
            _ = try await Self.move(scene, "a", "z").delivered()
            await scene.simulation.advance(by: .seconds(1))
            let ids = watch.emissions.compactMap { $0.result?.map(\.id).joined(separator: " ") }
            #expect(ids.allSatisfy { ["a b", "z b", "b z"].contains($0) }, "\(ids)")
            #expect(ids.contains("z b"))
            #expect(watch.emissions.last?.isFromCache == false)
            #expect(watch.emissions.last?.result?.map(\.id).sorted() == ["b", "z"])
            #expect(watch.emissions.last?.rowStates.allSatisfy { $0.state == .confirmed } == true)
        }
    }

    @Test func thePendingMutationNamesBothKeys() throws {
        try ReadScene.run { scene in
            scene.transport.isOnline = false
            _ = try await Self.move(scene, "a", "z")
            let waiting = try await WriteWorld.first(scene.client.pendingMutations(table: "tasks"))
            #expect(waiting?.map(\.rowIDs) == [["a", "z"]])
        }
    }

    @Test func anAppliedUpdateIsFoundUnderTheNewKeyAfterALostResponse() throws {
        try ReadScene.run { scene in
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(1))
            scene.transport.plant(.dropResponse)
            let rows = try await Self.move(scene, "a", "z").delivered().decode(as: TaskRow.self)
            #expect(rows.map(\.id) == ["z"])
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.emissions.last?.result?.map(\.id).sorted() == ["b", "z"])
            #expect(scene.server.mutations.filter { $0.operation == .update }.count == 1)
        }
    }

    @Test func anUpdateOfAMissingRowIsRejectedAfterALostResponse() throws {
        try ReadScene.run { scene in
            try scene.server.delete("a", of: "tasks")
            scene.transport.plant(.dropResponse)
            let receipt = try await Self.move(scene, "a", "z")
            let error = await #expect(throws: SyncError.self) { try await receipt.delivered() }
            #expect(error?.server?.code == ServerFailure.noRowMatchedCode)
        }
    }

    @Test func anUpdateToAKeyInUseIsRejectedAndTheRowKeepsItsKey() throws {
        try ReadScene.run { scene in
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(1))
            scene.transport.plant(.dropResponse)
            let receipt = try await Self.move(scene, "a", "b")
            let error = await #expect(throws: SyncError.self) { try await receipt.delivered() }
            #expect(error?.server?.code == "23505")
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.emissions.last?.result?.map(\.id) == ["a", "b"])
            #expect(watch.emissions.contains { $0.isFromCache && $0.refresh == .idle })
        }
    }

    /// The first request makes the filters of the update false, so the repeated one matches no row.
    @Test func theListsAreFetchedAfterARepeatedUpdateThatMatchesNoRow() throws {
        try ReadScene.run { scene in
            let watch = scene.watch(scene.tasks().eq("done", value: false))
            await scene.simulation.advance(by: .seconds(1))
            scene.transport.plant(.dropResponse)
            _ = try await scene.client.from("tasks").update(["done": true]).eq("id", value: "a").eq(
                "done", value: false
            ).execute().delivered()
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.emissions.last?.result?.map(\.id) == ["b"])
            #expect(watch.emissions.last?.isFromCache == false)
        }
    }

    @Test func anUpdateOfTheKeyIsNotMergedIntoAnUnsentInsert() throws {
        var options = ReadScene.Options()
        options.configure = { $0.compactsUnsentWrites = true }
        try ReadScene.run(options) { scene in
            scene.transport.isOnline = false
            try await scene.client.from("tasks").insert(TaskRow(id: "n", title: "new", done: false))
            _ = try await Self.move(scene, "n", "m")
            let waiting = try await WriteWorld.first(scene.client.pendingMutations(table: "tasks"))
            #expect(waiting?.map(\.operation) == [.insert, .update])
            scene.transport.isOnline = true
            try await scene.client.sync()
            #expect(scene.server.rows(of: "tasks").contains { $0.contains(#""id":"m""#) })
        }
    }
}
