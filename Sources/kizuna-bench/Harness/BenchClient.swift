internal import Foundation
internal import KizunaCore
internal import KizunaSync
internal import Synchronization

/// A server in this process that responds to every read with one body and to no write.
final class BodyTransport: WireTransport {
    private let body: @Sendable (String) -> [UInt8]

    init(_ body: @escaping @Sendable (String) -> [UInt8]) { self.body = body }

    func send(_ request: WireRequest) async throws -> WireResponse {
        guard request.method == "GET" else { throw WireFailure(.notSent, "reads only") }
        return WireResponse(status: 200, headers: ["content-type": "application/json"], body: body(request.url))
    }
}

/// A counter.
final class Tally: Sendable {
    private let value = Mutex(0)

    var count: Int { value.withLock { $0 } }
    func add() { value.withLock { $0 += 1 } }
}

/// The time of the last event.
final class Latest: Sendable {
    private let value = Mutex(ContinuousClock.now)

    var instant: ContinuousClock.Instant { value.withLock { $0 } }
    func note() { value.withLock { $0 = .now } }
}

/// Counts the requests of another transport.
final class CountingTransport: WireTransport {
    private let inner: any WireTransport
    private let tally = Tally()

    init(_ inner: any WireTransport) { self.inner = inner }

    var count: Int { tally.count }

    func send(_ request: WireRequest) async throws -> WireResponse {
        tally.add()
        return try await inner.send(request)
    }
}

enum BenchClient {
    /// Creates a client with a store on disk and the real clock.
    static func make(
        _ transport: any WireTransport, folder: URL, url: String = "https://project.example", key: String = "key",
        willCommit: (@Sendable () -> Void)? = nil
    ) async throws -> KizunaSyncClient {
        var dependencies = Engine.Dependencies()
        dependencies.transport = transport
        dependencies.willCommit = willCommit
        let client = KizunaSyncClient(dependencies: dependencies)
        guard let url = URL(string: url) else { throw BenchFault("no URL: \(url)") }
        var configuration = KizunaSyncConfiguration(url: url, publishableKey: key, dataDirectory: folder)
        configuration.limits.pendingMutations = 100_000
        try await client.create(configuration)
        return client
    }
}

extension QuerySnapshotSequence.Iterator {
    /// Waits for the next snapshot that meets a condition.
    func first(where isWanted: (QuerySnapshot<Value>) -> Bool) async throws -> QuerySnapshot<Value> {
        while let snapshot = try await next() {
            if isWanted(snapshot) { return snapshot }
        }
        throw BenchFault("the read ended")
    }
}
