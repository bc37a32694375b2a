internal import Foundation
internal import KizunaStore
internal import KizunaSync

/// From opening a large store to the first snapshot of a short list in it.
enum OpenToSnapshot {
    private static let rowsPerList = 50

    static func run(isQuick: Bool) async throws -> [Figure] {
        let lists = isQuick ? 100 : 2_000
        return try await withFolder { folder in
            try await fill(folder, lists)
            var samples = Samples()
            var relaxed = Samples()
            for round in 0..<(isQuick ? 5 : 40) {
                samples.add(try await open(folder, list: round * 37 % lists))
            }
            for round in 0..<(isQuick ? 5 : 40) {
                relaxed.add(try await first(folder, list: round * 37 % lists))
            }
            let name = "open -> first snapshot, \(lists * rowsPerList) rows stored"
            return [
                Figure("\(name), p50", samples.p50, .milliseconds),
                Figure("\(name), p99", samples.p99, .milliseconds, goal: .atMost(20)),
                Figure("\(name), without opening, p50", relaxed.p50, .milliseconds),
            ]
        }
    }

    private static func fill(_ folder: URL, _ lists: Int) async throws {
        let bodies = (0..<lists).map { BenchRows.response(($0 * rowsPerList)..<(($0 + 1) * rowsPerList), list: $0) }
        let transport = BodyTransport { url in
            let number = url.split(separator: "=").last.flatMap { $0.split(separator: ".").last }.flatMap { Int($0) }
            return bodies[number ?? 0]
        }
        let client = try await BenchClient.make(transport, folder: folder)
        try await client.engine().context.owners.handle().store.relaxDurability()
        for list in 0..<lists { _ = try await query(client, list).execute() }
        await client.close()
    }

    private static func query(_ client: KizunaSyncClient, _ list: Int) -> OneShotRead<[TaskRow]> {
        client.from(BenchRows.table).select(as: [TaskRow].self).eq("list_number", value: list)
    }

    /// A new client each time.
    private static func open(_ folder: URL, list: Int) async throws -> Duration {
        let transport = BodyTransport { _ in Array("[]".utf8) }
        let start = ContinuousClock.now
        let client = try await BenchClient.make(transport, folder: folder)
        let sequence = client.from(BenchRows.table).selectAsSequence(as: [TaskRow].self, readStrategy: .cacheOnly)
        let read = sequence.eq("list_number", value: list).makeAsyncIterator()
        let snapshot = try await read.next()
        let elapsed = start.duration(to: .now)
        await client.close()
        guard snapshot?.result?.count == rowsPerList else { throw BenchFault("the list was not found") }
        return elapsed
    }

    /// The read alone, on an open client.
    private static func first(_ folder: URL, list: Int) async throws -> Duration {
        let client = try await BenchClient.make(BodyTransport { _ in Array("[]".utf8) }, folder: folder)
        _ = try await client.outboxDepth()
        let elapsed = try await time {
            let sequence = client.from(BenchRows.table).selectAsSequence(as: [TaskRow].self, readStrategy: .cacheOnly)
            let read = sequence.eq("list_number", value: list).makeAsyncIterator()
            _ = try await read.next()
        }
        await client.close()
        return elapsed
    }
}
