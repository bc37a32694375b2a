import KizunaCore
import KizunaSyncTesting
import Testing

@Suite struct SimulationDeterminismTests {
    /// Workers that use actors, streams, timers and random waits.
    private func busyTrace(seed: UInt64, _ interleaving: Interleaving) throws -> [String] {
        let trace = Trace()
        try Simulation.run(seed: seed, interleaving: interleaving) { simulation in
            let environment = simulation.environment
            let counter = SimulatedCounter(simulation.executor)
            let plain = PlainCounter()
            let (stream, continuation) = AsyncStream.makeStream(of: String.self)
            for worker in 0..<5 {
                environment.spawn {
                    for round in 0..<4 {
                        let wait = environment.random() % 3
                        await simulation.advance(by: .milliseconds(Int64(wait)))
                        let ticket = await counter.increment()
                        let other = await plain.increment()
                        continuation.yield("\(worker).\(round) #\(ticket)/\(other) \(simulation.elapsed)")
                    }
                }
            }
            let reader = simulation.start {
                for await line in stream { trace.add(line) }
            }
            await simulation.advance(by: .seconds(1))
            continuation.finish()
            try await reader.value
        }
        return trace.lines
    }

    @Test(arguments: [Interleaving.inOrder, .shuffled])
    func theSameSeedGivesTheSameRun(_ interleaving: Interleaving) async throws {
        let first = try busyTrace(seed: 7, interleaving)
        #expect(first.count == 20)
        for _ in 0..<1000 {
            let again = try busyTrace(seed: 7, interleaving)
            guard again == first else {
                #expect(again == first)
                return
            }
        }
    }

    @Test func differentSeedsGiveDifferentInterleavings() throws {
        let traces = Set(
            try (0..<50).map { seed in
                try Simulation.run(seed: seed, interleaving: .shuffled) { simulation in
                    let trace = Trace()
                    await withTaskGroup(of: Void.self) { group in
                        for worker in 0..<5 {
                            group.addTask { trace.add("\(worker)") }
                        }
                    }
                    return trace.lines.joined()
                }
            })
        #expect(traces.count > 30)
    }

    @Test func theGeneratorIsSplitMix64() {
        var random = SeededRandom(seed: 1_234_567)
        #expect(random.next() == 6_457_827_717_110_365_317)
        #expect(random.next() == 3_203_168_211_198_807_973)
        #expect(random.next() == 9_817_491_932_198_370_423)
    }

    @Test func aForkDoesNotDependOnLaterDraws() {
        var one = SeededRandom(seed: 9)
        var two = SeededRandom(seed: 9)
        var forkOne = one.fork()
        var forkTwo = two.fork()
        _ = two.next()
        #expect(forkOne.next() == forkTwo.next())
        #expect((0..<1000).allSatisfy { _ in (0..<1).contains(one.fraction()) })
    }
}
