extension Simulation {
    /// Advances virtual time until the networks are quiet: no request is in flight, and none was sent for `idle`.
    ///
    /// - Parameters:
    ///   - networks: the networks of the devices under test.
    ///   - idle: longer than the longest delay between two attempts of the clients. The default suits their backoff.
    ///   - limit: the virtual time by which the networks must be quiet.
    /// - Throws: `SimulationFault.timeLimitPassed` if requests are still sent at the limit, for example by a poll.
    public func advanceUntilQuiet(
        _ networks: ScriptedTransport..., idle: Duration = .seconds(600), limit: Duration = .seconds(86_400)
    ) async throws {
        let end = elapsed + limit
        while true {
            let before = networks.map(\.sent.count)
            await advance(by: idle)
            if networks.map(\.sent.count) == before, networks.allSatisfy({ $0.inFlightCount == 0 }) { return }
            guard elapsed < end else { throw SimulationFault.timeLimitPassed(at: elapsed) }
        }
    }
}
