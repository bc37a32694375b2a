import Foundation
import KizunaCore
import KizunaSyncTesting
import Synchronization
import Testing

/// An actor that runs on the simulated serial executor.
actor SimulatedCounter {
    private let executor: any SerialExecutor
    private var value = 0

    init(_ executor: any SerialExecutor) { self.executor = executor }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func increment() -> Int {
        value += 1
        return value
    }
}

actor PlainCounter {
    private var value = 0

    func increment() -> Int {
        value += 1
        return value
    }
}

@Suite struct SimulationTests {
    @Test func runReturnsTheValueOfTheBody() throws {
        let value = try Simulation.run { _ in 42 }
        #expect(value == 42)
    }

    @Test func runThrowsTheErrorOfTheBody() {
        #expect(throws: WireFailure(.notSent, "x")) {
            try Simulation.run { _ in throw WireFailure(.notSent, "x") }
        }
    }

    @Test func advancingTakesVirtualTimeOnly() async throws {
        let clock = ContinuousClock()
        let real = try clock.measure {
            try Simulation.run { simulation in
                await simulation.advance(by: .seconds(86_400))
                #expect(simulation.elapsed == .seconds(86_400))
                #expect(simulation.wallClock == Simulation.startDate.addingTimeInterval(86_400))
            }
        }
        #expect(real < .seconds(60))
    }

    @Test func timersFireByInstantThenInsertion() throws {
        let trace = Trace()
        try Simulation.run { simulation in
            let clock = simulation.environment.clock
            for (name, delay) in [("c", 2), ("a", 1), ("d", 2), ("b", 1), ("now", 0)] {
                _ = clock.schedule(after: .seconds(delay)) { trace.add("\(name)@\(simulation.elapsed)") }
            }
            await simulation.advance(by: .seconds(2))
            trace.add("body")
        }
        #expect(
            trace.lines == [
                "now@0.0 seconds", "a@1.0 seconds", "b@1.0 seconds", "c@2.0 seconds", "d@2.0 seconds", "body",
            ])
    }

    @Test func theBodyWakesLastAtAnInstant() throws {
        let trace = Trace()
        try Simulation.run { simulation in
            let environment = simulation.environment
            async let done: Void = simulation.advance(by: .seconds(1))
            await simulation.settle()
            _ = environment.clock.schedule(after: .seconds(1)) {
                environment.spawn {
                    await Task.yield()
                    trace.add("task")
                    _ = environment.clock.schedule(after: .zero) { trace.add("timer at the same instant") }
                }
            }
            await done
            trace.add("body")
        }
        #expect(trace.lines == ["task", "timer at the same instant", "body"])
    }

    @Test func aCancelledTimerNeitherFiresNorMovesTheClock() throws {
        let trace = Trace()
        let end = try Simulation.run { simulation in
            let clock = simulation.environment.clock
            let late = clock.schedule(after: .seconds(500)) { trace.add("cancelled") }
            _ = clock.schedule(after: .seconds(1)) {
                late.cancel()
                late.cancel()
            }
            await simulation.advance(by: .seconds(3))
            return simulation.elapsed
        }
        #expect(trace.lines == [])
        #expect(end == .seconds(3))
    }

    @Test func nestedSpawnsRunBeforeSettleReturns() throws {
        let trace = Trace()
        try Simulation.run { simulation in
            let environment = simulation.environment
            environment.spawn {
                trace.add("outer")
                environment.spawn {
                    await Task.yield()
                    trace.add("inner")
                    environment.spawn { trace.add("innermost") }
                }
            }
            await simulation.settle()
            trace.add("settled")
            #expect(simulation.elapsed == .zero)
        }
        #expect(trace.lines == ["outer", "inner", "innermost", "settled"])
    }

    @Test func cancellingATicketCancelsTheSpawnedTask() throws {
        let trace = Trace()
        try Simulation.run { simulation in
            let ticket = simulation.environment.spawn {
                await withTaskCancellationHandler {
                    await simulation.advance(by: .seconds(1))
                    trace.add("cancelled: \(Task.isCancelled)")
                } onCancel: {
                    trace.add("handler")
                }
            }
            await simulation.settle()
            ticket.cancel()
            await simulation.advance(by: .seconds(1))
        }
        #expect(trace.lines == ["handler", "cancelled: true"])
    }

    @Test func actorsRunInsideTheSimulation() throws {
        let total = try Simulation.run { simulation in
            let executor = try #require(simulation.environment.storeExecutor)
            let simulated = SimulatedCounter(executor)
            let plain = PlainCounter()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        _ = await simulated.increment()
                        _ = await plain.increment()
                        _ = await simulated.increment()
                    }
                }
            }
            return (await simulated.increment(), await plain.increment())
        }
        #expect(total == (201, 101))
    }

    @Test func streamsCrossTasks() throws {
        let trace = Trace()
        try Simulation.run { simulation in
            let (stream, continuation) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
            let reader = simulation.start {
                for await value in stream { trace.add("\(value)") }
            }
            for value in 1...3 {
                continuation.yield(value)
                await simulation.settle()
            }
            for value in 4...6 { continuation.yield(value) }
            continuation.finish()
            try await reader.value
        }
        #expect(trace.lines == ["1", "2", "3", "4", "6"])
    }

    @Test func aWrongWallClockDoesNotChangeTimers() throws {
        try Simulation.run { simulation in
            simulation.setWallClockOffset(.seconds(-3600))
            await simulation.advance(by: .seconds(60))
            #expect(simulation.wallClock == Simulation.startDate.addingTimeInterval(60 - 3600))
            #expect(simulation.environment.wallClock() == simulation.wallClock)
            #expect(simulation.environment.clock.now == MonotonicInstant(.seconds(60)))
        }
    }

    @Test func logLinesAreCollected() throws {
        let messages = try Simulation.run { simulation in
            simulation.environment.log.log(LogLine(.info, "one"))
            simulation.environment.log.log(LogLine(.debug, "two"))
            return simulation.log.lines.map(\.message)
        }
        #expect(messages == ["one", "two"])
    }

    @Test func jobsReadyWhenTheBodyReturnsStillRun() throws {
        let trace = Trace()
        try Simulation.run { simulation in
            simulation.environment.spawn {
                await Task.yield()
                trace.add("late")
            }
            _ = simulation.environment.clock.schedule(after: .seconds(1)) { trace.add("never") }
        }
        #expect(trace.lines == ["late"])
    }

    @Test func anActorCanStillBeAwaitedAfterTheEnd() async throws {
        let counter = try Simulation.run { simulation in SimulatedCounter(simulation.executor) }
        #expect(await counter.increment() == 1)
    }
}
