import KizunaCore
import KizunaSyncTesting
import Testing

@Suite struct SimulationFaultTests {
    @Test func aBodyThatWaitsForeverIsStuck() {
        #expect(throws: SimulationFault.stuck(at: .seconds(3))) {
            try Simulation.run { simulation in
                await simulation.advance(by: .seconds(3))
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            }
        }
        #expect(SimulationFault.stuck(at: .seconds(3)).description.hasPrefix("The simulation is stuck at 3.0 seconds"))
    }

    @Test func endlessWorkAtOneInstantIsALivelock() {
        #expect(throws: SimulationFault.livelock(at: .seconds(7), steps: 5000)) {
            try Simulation.run(limits: .init(stepsPerInstant: 5000)) { simulation in
                simulation.environment.spawn {
                    await simulation.advance(by: .seconds(7))
                    while true { await Task.yield() }
                }
                await simulation.advance(by: .seconds(8))
            }
        }
    }

    @Test func timersThatAreSetAgainAtOnceAreALivelock() {
        #expect(throws: SimulationFault.livelock(at: .zero, steps: 5000)) {
            try Simulation.run(limits: .init(stepsPerInstant: 5000)) { simulation in
                rearm(simulation.environment.clock)
                await simulation.settle()
            }
        }
    }

    @Test func endlessPollingReachesTheTimeLimit() {
        #expect(throws: SimulationFault.timeLimitPassed(at: .seconds(3615))) {
            try Simulation.run(limits: .init(virtualTime: .seconds(3600))) { simulation in
                simulation.environment.spawn {
                    while true { await simulation.advance(by: .seconds(15)) }
                }
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            }
        }
    }
}

private func rearm(_ clock: any SyncClock) {
    _ = clock.schedule(after: .zero) { rearm(clock) }
}
