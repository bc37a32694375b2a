import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

/// One-shot reads that are under way when the client closes (docs/spec/reads.md, Closing).
@Suite struct ClosingTests {
    /// What a read that has begun ends with when the client closes, and how long closing took.
    private static func outcome(
        _ strategy: ReadStrategy, of scene: ReadScene
    ) async throws -> (line: String, took: Duration) {
        let read = scene.simulation.start { await scene.outcome(strategy) }
        await scene.simulation.settle()
        let began = scene.simulation.elapsed
        await scene.client.close()
        return (try await read.value, scene.simulation.elapsed - began)
    }

    @Test(arguments: [ReadStrategy.networkOnly, .networkFirst, .cacheFirst])
    func aRequestThatWasSentGetsItsResponse(_ strategy: ReadStrategy) throws {
        try ReadScene.run { scene in
            let (line, took) = try await Self.outcome(strategy, of: scene)
            #expect(line == "[one, two] server @0.05 idle")
            #expect(took == .milliseconds(50))
        }
    }

    @Test func anAnswerThatDoesNotComeIsReplacedByWhatIsStoredAfterFiveSeconds() throws {
        try ReadScene.run { scene in
            try await scene.warmUp()
            scene.transport.serve { _ in .hold }
            let (line, took) = try await Self.outcome(.networkFirst, of: scene)
            #expect(line == "[one, two] cache @0.05 idle")
            #expect(took == .seconds(5))
        }
    }

    @Test(arguments: [(ReadStrategy.networkOnly, true), (.networkFirst, false), (.cacheFirst, false)])
    func whereNothingStoredMayResponseItThrowsClosed(_ strategy: ReadStrategy, _ isWarm: Bool) throws {
        try ReadScene.run { scene in
            if isWarm { try await scene.warmUp() }
            scene.transport.serve { _ in .hold }
            let (line, took) = try await Self.outcome(strategy, of: scene)
            #expect(line == "closed")
            #expect(took == .seconds(5))
        }
    }

    @Test func aReadThatWaitsForTheSessionIsAnsweredAtOnce() throws {
        try ReadScene.run { scene in
            try await scene.warmUp()
            scene.session.current = .restoring
            await scene.simulation.settle()
            let (first, took) = try await Self.outcome(.networkFirst, of: scene)
            #expect(first.hasPrefix("[one, two] cache"))
            #expect(took == .zero)
        }
    }

    @Test func aReadAfterClosingThrowsClosed() throws {
        try ReadScene.run { scene in
            try await scene.warmUp()
            await scene.client.close()
            for strategy in ReadStrategy.allCases {
                let line = await scene.outcome(strategy)
                #expect(line == "closed")
            }
        }
    }

    /// A live read of one row asks once, and completes like every other when the client closes.
    @Test func aLiveReadOfAnotherShapeCompletes() throws {
        try ReadScene.run { scene in
            let one = scene.client.from("tasks").selectAsSequence(as: TaskRow.self).eq("id", value: "a").single()
            let answered = scene.watch(one)
            await scene.simulation.settle()
            scene.transport.serve { _ in .hold }
            let waiting = scene.watch(one)
            await scene.simulation.settle()
            await scene.client.close()
            await scene.simulation.settle()
            #expect(answered.emissions.map { $0.result?.title } == ["one"])
            #expect(answered.end == "completed")
            #expect(waiting.emissions.isEmpty)
            #expect(waiting.end == "completed")
            #expect(scene.simulation.elapsed == .seconds(5))
        }
    }
}
