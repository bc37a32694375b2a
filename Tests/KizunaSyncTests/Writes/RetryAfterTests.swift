import KizunaCore
import KizunaPostgREST
import KizunaSync
import KizunaSyncTesting
import Testing

/// The queue and the refresh obey `Retry-After` (docs/spec/writes.md, Responses and outcomes; docs/spec/scheduling.md,
/// Retry-After).
@Suite struct RetryAfterTests {
    /// Runs a test with one pending mutation after a response with `Retry-After`.
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

    /// The times, in virtual seconds, at which inserts were sent.
    private static func posts(_ scene: ReadScene) -> [Double] {
        scene.transport.sent.filter { $0.request.method == "POST" }.map { ($0.sentAt.seconds * 100).rounded() / 100 }
    }

    @Test(arguments: [429, 503])
    func syncDoesNotShortenRetryAfter(status: Int) throws {
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

    @Test func theErrorHasTheRemainingTime() throws {
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
            // A date without the server's own time gives no duration.
            (["retry-after": "Mon, 30 Nov 2026 14:01:30 GMT"], nil),
        ] as [([String: String], Int?)])
    func retryAfterIsANumberOfSecondsOrADate(headers: [String: String], seconds: Int?) {
        #expect(RetryAfter.duration(headers) == seconds.map { .seconds($0) })
    }

    @Test func theWaitIsAtMostTenMinutes() throws {
        try Self.run(asking: 86_400) { scene in
            await scene.simulation.advance(by: .seconds(700))
            #expect(Self.posts(scene) == [0, 600.05])
        }
    }

    @Test func enableNetworkEndsTheWait() throws {
        try Self.run(asking: 60) { scene in
            try await scene.client.enableNetwork()
            await scene.simulation.settle()
            #expect(Self.posts(scene) == [0, 0.1])
            await scene.simulation.advance(by: .seconds(1))
            try await scene.client.sync()
        }
    }

    @Test func theReturnOfTheNetworkEndsTheWait() throws {
        try Self.run(asking: 60) { scene in
            scene.path.isSatisfied = false
            await scene.simulation.advance(by: .seconds(5))
            scene.path.isSatisfied = true
            await scene.simulation.settle()
            #expect(Self.posts(scene) == [0, 5.1])
        }
    }

    @Test func syncDoesNotShortenRetryAfterOfALiveRead() throws {
        try ReadScene.run { scene in
            scene.server.outage = SimulatedRejection(429, code: "PGRST003", message: "busy", retryAfter: 30)
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(1))
            for _ in 1...5 {
                // The refresh of the live read is also the attempt of the run, so `sync()` throws its error.
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

    /// The wait is the longer one of `Retry-After` and the schedule.
    @Test(
        arguments: [(nil, [0, 1.05, 3.1, 7.15]), (3, [0, 3.05, 6.1, 10.15]), (45, [0, 45.05])] as [(Int?, [Double])])
    func theRefreshOfALiveReadObeysRetryAfter(seconds: Int?, times: [Double]) throws {
        try ReadScene.run { scene in
            scene.server.outage = SimulatedRejection(503, code: "PGRST002", message: "busy", retryAfter: seconds)
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .milliseconds((times.last ?? 0) > 40 ? 45_060 : 10_160))
            #expect(Array(scene.readTimes.prefix(4)) == times)
            watch.cancel()
        }
    }
}
