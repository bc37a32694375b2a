internal import KizunaCore
internal import KizunaTransport
internal import KizunaLocal

/// Requests per second through the platform's HTTP on loopback, without a goal.
enum HTTPRate {
    static func run(isQuick: Bool) async throws -> [Figure] {
        let backend = try await LocalBackend.start()
        let request = WireRequest(method: "GET", url: backend.url + "/control/network")
        let transport = PlatformTransport.http()
        let requests = isQuick ? 200 : 4_000
        let alone = try await time {
            for _ in 0..<requests { _ = try await transport.send(request) }
        }
        let together = try await time {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask { for _ in 0..<(requests / 4) { _ = try await transport.send(request) } }
                }
                try await group.waitForAll()
            }
        }
        await backend.stop()
        return [
            Figure("HTTP on loopback, one at a time", Double(requests) / alone.seconds, .perSecond),
            Figure("HTTP on loopback, four at a time", Double(requests) / together.seconds, .perSecond),
        ]
    }
}
