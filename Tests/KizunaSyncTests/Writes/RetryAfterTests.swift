import KizunaCore
import KizunaPostgREST
import KizunaSync
import KizunaSyncTesting
import Testing

/// A server that asks to be left alone for a while is left alone (docs/spec/writes.md, Responses and outcomes;
/// docs/spec/scheduling.md, Retry-After).
@Suite struct RetryAfterTests {
    /// A client with one waiting write, whose server has just answered 429 and asked for so many seconds.
    private static func run(
        asking seconds: Int, status: Int = 429,
        _ body: @escaping @Sendable (ReadScene) async throws -> Void
    ) throws {
        try ReadScene.run { scene in
            scene.server.outage = SimulatedRejection(
                status, code: "PGRST003", message: "busy", retryAfter: seconds)
            try await scene.client.from("tasks").insert(NewTask(title: "three", done: false))
            await scene.simulation.advance(by: .milliseconds(100))
            scene.server.outage = nil
            #expect(Self.posts(scene) == [0])
            try await body(scene)
        }
    }

    /// The virtual seconds at which writes were sent.
    private static func posts(_ scene: ReadScene) -> [Double] {
        scene.transport.sent.filter { $0.request.method == "POST" }.map { ($0.sentAt.seconds * 100).rounded() / 100 }
    }

    @Test(arguments: [429, 503])
    func syncDoesNotHurryPastIt(status: Int) throws {
        try Self.run(asking: 60, status: status) { scene in
            for _ in 1...5 {
                let error = await #expect(throws: SyncError.self) { try await scene.client.sync() }
                #expect(error?.code == .connectivity)
                #expect(error.flatMap(\.retryAfter).map { $0 > .zero && $0 <= .seconds(60) } == true)
                await scene.simulation.advance(by: .seconds(10))
            }
            #expect(Self.posts(scene) == [0])
            await scene.simulation.advance(by: .seconds(20))
            #expect(Self.posts(scene) == [0, 60.05])
            try await scene.client.sync()
        }
    }

    @Test func theErrorSaysHowLongIsLeft() throws {
        try Self.run(asking: 60) { scene in
            await scene.simulation.advance(by: .milliseconds(39_950))
            let error = await #expect(throws: SyncError.self) { try await scene.client.sync() }
            #expect(error?.retryAfter == .seconds(20))
        }
    }

    @Test(
        arguments: [
            (["retry-after": "7"], 7), (["retry-after": "-1"], nil), (["retry-after": "soon"], nil), ([:], nil),
            (["retry-after": "Mon, 30 Nov 2026 14:01:30 GMT", "date": "Mon, 30 Nov 2026 14:00:00 GMT"], 90),
            (["retry-after": "Mon, 30 Nov 2026 14:00:00 GMT", "date": "Mon, 30 Nov 2026 14:01:30 GMT"], 0),
            // Without the server's own time it is not known how long that is.
            (["retry-after": "Mon, 30 Nov 2026 14:01:30 GMT"], nil),
        ] as [([String: String], Int?)])
    func itIsANumberOfSecondsOrADate(headers: [String: String], seconds: Int?) {
        #expect(RetryAfter.duration(headers) == seconds.map { .seconds($0) })
    }

    @Test func moreThanTenMinutesIsNotWaited() throws {
        try Self.run(asking: 86_400) { scene in
            await scene.simulation.advance(by: .seconds(700))
            #expect(Self.posts(scene) == [0, 600.05])
        }
    }

    @Test func enableNetworkIsTheAppsWishAndTriesAtOnce() throws {
        try Self.run(asking: 60) { scene in
            try await scene.client.enableNetwork()
            await scene.simulation.settle()
            #expect(Self.posts(scene) == [0, 0.1])
            await scene.simulation.advance(by: .seconds(1))
            try await scene.client.sync()
        }
    }

    @Test func theNetworksReturnTriesAtOnce() throws {
        try Self.run(asking: 60) { scene in
            scene.path.isSatisfied = false
            await scene.simulation.advance(by: .seconds(5))
            scene.path.isSatisfied = true
            await scene.simulation.settle()
            #expect(Self.posts(scene) == [0, 5.1])
        }
    }

    @Test func aLiveReadIsNotHurriedPastItEither() throws {
        try ReadScene.run { scene in
            scene.server.outage = SimulatedRejection(429, code: "PGRST003", message: "busy", retryAfter: 30)
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(1))
            for _ in 1...5 {
                // The read's own attempt is the run's too, and so is what came of it.
                let error = await #expect(throws: SyncError.self) { try await scene.client.sync() }
                #expect(error?.server?.status == 429)
                #expect(error?.retryAfter == .seconds(30))
                await scene.simulation.advance(by: .seconds(1))
            }
            #expect(scene.readTimes == [0])
            scene.server.outage = nil
            try await scene.client.enableNetwork()
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.lines.last == "[one, two] server @6.05 idle")
        }
    }

    /// A busy server's own repeats of a read wait at least as long as it asks; where that is long, the schedule does.
    @Test(
        arguments: [(nil, [0, 1.05, 3.1, 7.15]), (3, [0, 3.05, 6.1, 10.15]), (45, [0, 45.05])] as [(Int?, [Double])])
    func aBusyServerIsNotAskedSooner(seconds: Int?, times: [Double]) throws {
        try ReadScene.run { scene in
            scene.server.outage = SimulatedRejection(503, code: "PGRST002", message: "busy", retryAfter: seconds)
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .milliseconds((times.last ?? 0) > 40 ? 45_060 : 10_160))
            #expect(Array(scene.readTimes.prefix(4)) == times)
            watch.cancel()
        }
    }
}
