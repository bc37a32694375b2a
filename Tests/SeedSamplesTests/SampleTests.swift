import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

/// Every Swift sample of the behaviour pages compiles as it stands there (`Samples/`); here some of them run.
@Suite struct SampleTests {
    @Test func theSchedulersOfThePageHaveTheDefaultsOfThePage() {
        #expect(syncScheduler.pollInterval == 15)
        #expect(syncScheduler.monitorPath)
        #expect(syncScheduler.onError != nil)
        #expect(schedulerWithDoorbell().sync == nil)
        #expect(schedulerWithDoorbell().health().phase == .idle)
    }

    @Test func theRefreshOfThePageSkipsRunsWithoutASession() async {
        #expect(await syncScheduler.refreshSession() == false)
    }

    @Test func theAdapterOfThePageSubscribesAndCancels() {
        let adapter = SupabaseRealtimeWakeup(client: supabase)
        adapter.subscribe(topics: ["kizunasync:todos"], onWake: {}).cancel()
    }

    @Test func theFiltersOfThePageAskWhatTheySay() throws {
        try Simulation.run { simulation in
            let transport = ScriptedTransport(simulation) { _ in .json("[]") }
            let client = try await simulation.makeClient(transport)
            let repository = TaskRepository(client: client, session: SessionHolder(userID: "u"))
            let window = DateInterval(start: Date(timeIntervalSince1970: 0), duration: 86_400)
            for filter in TaskFilter.allCases {
                try await readOnce(filter.applied(to: repository.taskSnapshots(), recentWindow: window))
            }
            try await readOnce(TaskQuery.titleContains("tea", repository.taskSnapshots()))
            try await readOnce(repository.photoSnapshots(ofTasks: ["a", "b"]))
            try await readOnce(repository.photoPage(count: 20))
            #expect(
                transport.sent.map { $0.request.url.split(separator: "?").last ?? "" } == [
                    "select=%2A&order=created_at.desc.nullslast",
                    "select=%2A&order=created_at.desc.nullslast&done=neq.true",
                    "select=%2A&order=created_at.desc.nullslast&done=is.true",
                    "select=%2A&order=created_at.desc.nullslast&created_at=gte.1970-01-01T00%3A00%3A00.000Z"
                        + "&created_at=lt.1970-01-02T00%3A00%3A00.000Z",
                    "select=%2A&order=created_at.desc.nullslast&title=ilike.%25tea%25",
                    "select=%2A&task_id=in.%28a%2Cb%29&order=created_at.asc.nullslast",
                    "select=%2A&order=created_at.desc.nullslast&limit=20",
                ])
        }
    }

    @Test(.timeLimit(.minutes(1))) @MainActor func theModelsOfThePageFollowRowsAndWrites() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("samples-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let client = KizunaSyncClient()
        try await client.create(
            .init(url: try #require(URL(string: "http://127.0.0.1:9")), publishableKey: "key", dataDirectory: folder))
        let failures = Failures()
        let repository = TaskRepository(client: client, session: SessionHolder(userID: "u"))
        let model = TasksModel(repository: repository, failures: failures)
        let receipt = try await client.from(Tables.tasks).insert(TaskRow(id: "a", title: "tea", done: false))
        async let pending: Void = model.observePendingTasks()
        async let rows: Void = model.observeTasks()
        while model.pendingIDs.isEmpty || model.rows == nil { await Task.yield() }
        #expect(model.pendingIDs == Set(receipt.rowIDs))
        #expect(model.rows?.map(\.title) == ["tea"])
        await client.close()
        _ = await (pending, rows)
        #expect(failures.reported == [])
        #expect(TasksModel.readStrategy(prefersFreshData: true) == .networkFirstThenCache)
        #expect(TasksModel.readStrategy(prefersFreshData: false) == .cacheFirstThenNetwork)
    }

    @Test @MainActor func theTextOfThePageNamesEachState() {
        let repository = TaskRepository(client: kizunasync, session: SessionHolder(userID: "u"))
        let model = TasksModel(repository: repository, failures: Failures())
        let view = SyncView(app: App(session: SessionHolder(userID: "u"), tasks: model))
        var texts: [String] = []
        for state in [RefreshState.idle, .refreshing, .paused, .stalled(SyncError(.server, "x"))] {
            model.refresh = state
            texts.append(view.text)
        }
        #expect(
            texts == [
                "Up to date with the server", "Asking the server…", "Paused while offline",
                "Can’t reach the server — showing saved data",
            ])
        #expect(
            SyncView(app: App(session: SessionHolder(), tasks: model)).text == "Waits for the first sign-in")
    }

    private func readOnce<Value>(_ sequence: QuerySnapshotSequence<Value>) async throws {
        for try await snapshot in sequence where snapshot.refresh == .idle { return }
    }
}
