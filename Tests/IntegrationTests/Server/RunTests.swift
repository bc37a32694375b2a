import KizunaCore
import KizunaLocal
import KizunaSync
import Synchronization
import Testing

/// What a run brings from a real server.
@Suite(.timeLimit(.minutes(3))) struct RunTests {
    @Test func anotherDevicesChangesArriveAfterADoorbell() async throws {
        try await SharedCluster.withBackend(Schemas.ownNotes) { backend in
            let phone = try await Device(backend, user: Users.ada)
            let laptop = try await Device(backend, user: Users.ada)
            let shown = ShownTitles(phone.notes)
            try await shown.become([])
            let doorbell = Doorbell()
            let scheduler = KizunaSyncScheduler(
                client: phone.client, pollInterval: 0, monitorPath: false, realtime: doorbell,
                realtimeTables: ["notes"], refreshSession: { true })
            scheduler.start()
            #expect(await scheduler.run())

            try await laptop.notes.insert(Note(id: noteKey(1), title: "new")).delivered()
            #expect(try await phone.shown().isEmpty)
            doorbell.ring()
            try await shown.become(["new"])
            try await laptop.notes.update(["title": "changed"]).eq("id", value: noteKey(1)).execute().delivered()
            doorbell.ring()
            try await shown.become(["changed"])
            try await laptop.notes.delete().eq("id", value: noteKey(1)).execute().delivered()
            doorbell.ring()
            try await shown.become([])

            // A write of the phone's own and a change of the other device's come together.
            backend.control.isNetworkOn = false
            try await phone.notes.insert(Note(id: noteKey(2), title: "mine"))
            backend.control.isNetworkOn = true
            try await laptop.notes.insert(Note(id: noteKey(3), title: "theirs")).delivered()
            doorbell.ring()
            try await shown.become(["mine", "theirs"])
            try await phone.untilDelivered()
            #expect(try await backend.query("SELECT id FROM notes").count == 2)
            scheduler.stop()
            shown.end()
            await phone.client.close()
            await laptop.client.close()
        }
    }

    @Test func aRunThatIsCalledOffLeavesTheStoreAsItWas() async throws {
        try await SharedCluster.withBackend(Schemas.ownNotes) { backend in
            let phone = try await Device(backend, user: Users.ada)
            let laptop = try await Device(backend, user: Users.ada)
            let shown = ShownTitles(phone.notes)
            try await shown.become([])
            try await laptop.notes.insert(Note(id: noteKey(1), title: "new")).delivered()
            let before = backend.control.requests.count
            backend.control.add(FaultRule(.delay(.seconds(4)), method: "GET", path: "/rest/v1/notes"))
            let run = Task { try await phone.client.sync() }
            await backend.control.requests { $0.count > before }
            run.cancel()
            await #expect(throws: CancellationError.self) { try await run.value }
            #expect(try await phone.shown().isEmpty)
            try await phone.client.sync()
            try await shown.become(["new"])
            shown.end()
            await phone.client.close()
            await laptop.client.close()
        }
    }
}

/// The titles a live read of all notes shows.
private final class ShownTitles: Sendable {
    private let titles: AsyncStream<[String]>
    private let last = Mutex<[String]?>(nil)
    private let task: Task<Void, any Error>

    init(_ notes: OfflineTable) {
        let (titles, continuation) = AsyncStream.makeStream(of: [String].self)
        self.titles = titles
        task = Task {
            defer { continuation.finish() }
            for try await snapshot in notes.selectAsSequence(as: [Note].self).order("id") {
                guard let rows = snapshot.result, !snapshot.isFromCache else { continue }
                continuation.yield(rows.map(\.title))
            }
        }
    }

    /// The titles as last seen by `become`.
    var newest: [String]? { last.withLock { $0 } }

    func become(_ wanted: [String]) async throws {
        try await within(.seconds(30), "the live read to show \(wanted)") { [self] in
            for await next in titles {
                last.withLock { $0 = next }
                if next == wanted { return }
            }
        }
        #expect(newest == wanted)
    }

    func end() { task.cancel() }
}

private final class Doorbell: KizunaSyncRealtimeWakeup {
    private struct Subscription: KizunaSyncRealtimeSubscription {
        func cancel() {}
    }

    private let handler = Mutex<(@Sendable () -> Void)?>(nil)

    func subscribe(
        topics: [String], onWake: @escaping @Sendable () -> Void
    ) -> any KizunaSyncRealtimeSubscription {
        handler.withLock { $0 = onWake }
        return Subscription()
    }

    func ring() { handler.withLock { $0 }?() }
}
