import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

/// The scheduler with the real client, in virtual time.
@Suite struct SchedulerClientTests {
    private static func transport(_ simulation: Simulation) -> ScriptedTransport {
        ScriptedTransport(simulation) { request in
            request.method == "POST"
                ? .json(String(decoding: request.body ?? [], as: UTF8.self), status: 201) : .json("[]")
        }
    }

    private static func scheduler(
        _ client: KizunaSyncClient, _ errors: Trace, needsReset: (@Sendable () async -> Bool)? = nil
    ) -> KizunaSyncScheduler {
        KizunaSyncScheduler(
            client: client, monitorPath: false, refreshSession: { true },
            onError: { errors.add(($0 as? SyncError)?.code.rawValue ?? "other") }, jitterSource: { 0 },
            needsReset: needsReset)
    }

    @Test func aWriteWakesARunAndTheHealthShowsTheQueue() throws {
        try Simulation.run { simulation in
            let transport = Self.transport(simulation)
            let client = try await simulation.makeClient(transport)
            let errors = Trace()
            let scheduler = Self.scheduler(client, errors)
            let runs = Mutex(0)
            scheduler.pollInterval = 0
            scheduler.sync = {
                runs.withLock { $0 += 1 }
                try await client.sync()
            }
            scheduler.start()
            await simulation.advance(by: .seconds(1))
            #expect(runs.withLock { $0 } == 1)
            transport.isOnline = false
            try await client.from("tasks").insert(NewTask(title: "x", done: false))
            await simulation.advance(by: .seconds(1))
            #expect(scheduler.health().queueDepth == 1)
            #expect(runs.withLock { $0 } == 2)
            transport.isOnline = true
            scheduler.notifyOnline()
            await simulation.advance(by: .seconds(30))
            #expect(scheduler.health().queueDepth == 0)
            #expect(scheduler.health().phase == .idle)
            scheduler.stop()
            await client.close()
        }
    }

    @Test func aFailedSyncOfTheClientIsBackoffWithItsCode() throws {
        try Simulation.run { simulation in
            let transport = Self.transport(simulation)
            transport.isOnline = false
            let client = try await simulation.makeClient(transport)
            let errors = Trace()
            let scheduler = Self.scheduler(client, errors)
            try await client.from("tasks").insert(NewTask(title: "x", done: false))
            #expect(await !scheduler.run())
            #expect(scheduler.health().phase == .backoff)
            #expect(scheduler.health().lastError?.code == "connectivity")
            #expect(errors.lines == ["connectivity"])
            transport.isOnline = true
            #expect(await scheduler.run())
            #expect(scheduler.health().phase == .idle)
            let depth = try await client.outboxDepth()
            #expect(depth == 0)
            await client.close()
        }
    }

    @Test func aSchedulerStartedTooEarlyIsToldAndSubscribesLater() throws {
        try Simulation.run { simulation in
            var dependencies = Engine.Dependencies()
            dependencies.environment = simulation.environment
            dependencies.transport = Self.transport(simulation)
            dependencies.isInMemory = true
            let client = KizunaSyncClient(dependencies: dependencies)
            let errors = Trace()
            let scheduler = Self.scheduler(client, errors)
            scheduler.start()
            await simulation.advance(by: .seconds(1))
            #expect(errors.lines.contains("ENGINE_UNAVAILABLE"))
            try await client.create(Self.configuration())
            await simulation.advance(by: .seconds(60))
            scheduler.pollInterval = 0
            try await client.from("tasks").insert(NewTask(title: "x", done: false))
            await simulation.advance(by: .milliseconds(10))
            #expect(scheduler.health().queueDepth == 0 || scheduler.health().queueDepth == 1)
            let before = scheduler.health().lastSuccessAt
            await simulation.advance(by: .seconds(1))
            #expect(scheduler.health().lastSuccessAt != before)
            scheduler.stop()
            await client.close()
        }
    }

    /// A client and a scheduler that has made its first run and polls no more for an hour.
    private static func started(
        _ simulation: Simulation
    ) async throws -> (KizunaSyncClient, Trace, KizunaSyncScheduler) {
        let client = try await simulation.makeClient(transport(simulation))
        let errors = Trace()
        let scheduler = scheduler(client, errors)
        scheduler.pollInterval = 3600
        scheduler.start()
        await simulation.advance(by: .seconds(1))
        return (client, errors, scheduler)
    }

    @Test func createCalledAgainIsFollowed() throws {
        try Simulation.run { simulation in
            let (client, errors, scheduler) = try await Self.started(simulation)
            try await client.create(Self.configuration())
            await simulation.advance(by: .seconds(1))
            let before = scheduler.health().lastSuccessAt
            try await client.from("tasks").insert(NewTask(title: "x", done: false))
            await simulation.advance(by: .seconds(1))
            #expect(scheduler.health().lastSuccessAt != before)
            #expect(errors.lines == [])
            scheduler.stop()
            await client.close()
        }
    }

    @Test func aClientThatIsClosedAndCreatedAgainIsFollowedFromTheNextRun() throws {
        try Simulation.run { simulation in
            let (client, _, scheduler) = try await Self.started(simulation)
            await client.close()
            #expect(await !scheduler.run())
            try await client.create(Self.configuration())
            #expect(await scheduler.run())
            let before = scheduler.health().lastSuccessAt
            try await client.from("tasks").insert(NewTask(title: "x", done: false))
            await simulation.advance(by: .seconds(1))
            #expect(scheduler.health().lastSuccessAt != before)
            scheduler.stop()
            await client.close()
        }
    }

    private static func configuration() throws -> KizunaSyncConfiguration {
        KizunaSyncConfiguration(
            url: try #require(URL(string: "https://project.example")), publishableKey: "key",
            dataDirectory: URL(fileURLWithPath: "/nowhere"))
    }
}
