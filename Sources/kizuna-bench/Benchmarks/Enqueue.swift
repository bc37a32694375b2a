internal import Foundation
internal import KizunaStore
internal import KizunaSync

/// One durable write, by the length of the queue it joins.
enum Enqueue {
    static func run(isQuick: Bool) async throws -> [Figure] {
        var figures: [Figure] = []
        var medians: [Double] = []
        let depths = isQuick ? [0, 1_000] : [0, 1_000, 10_000]
        for depth in depths {
            let (durable, relaxed) = try await measure(pending: depth, writes: isQuick ? 50 : 400)
            // Without disk synchronisation, whose cost would hide that of the queue.
            medians.append(relaxed.p50)
            let name = "enqueue, \(depth) pending"
            figures += [
                Figure("\(name), p50", durable.p50, .milliseconds),
                Figure("\(name), p99", durable.p99, .milliseconds, goal: depth == 10_000 ? .atMost(2) : nil),
                Figure("\(name), p50 without fsync", relaxed.p50, .milliseconds),
                Figure(
                    "\(name), p99 without fsync", relaxed.p99, .milliseconds,
                    goal: depth == 10_000 ? .atMost(2) : nil),
                Figure("\(name), share of fsync", 100 * (1 - relaxed.p50 / durable.p50), .percent),
            ]
        }
        if let first = medians.first, let last = medians.last {
            figures.append(
                Figure(
                    "enqueue, p50 without fsync at \(depths.last ?? 0) over 0", last / first, .times,
                    goal: .atMost(1.25)))
        }
        return figures
    }

    private static func measure(pending: Int, writes: Int) async throws -> (durable: Samples, relaxed: Samples) {
        try await withFolder { folder in
            let client = try await BenchClient.make(BodyTransport { _ in [] }, folder: folder)
            try await client.disableNetwork()
            if pending > 0 {
                try await client.from(BenchRows.table).insert((0..<pending).map { NewTask($0) })
            }
            let durable = try await enqueue(client, from: pending, writes)
            try await client.engine().context.owners.handle().store.relaxDurability()
            let relaxed = try await enqueue(client, from: pending + writes, writes)
            await client.close()
            return (durable, relaxed)
        }
    }

    private static func enqueue(_ client: KizunaSyncClient, from: Int, _ writes: Int) async throws -> Samples {
        var samples = Samples()
        for number in from..<(from + writes) where !samples.isLongEnough {
            let row = NewTask(number)
            samples.add(try await time { try await client.from(BenchRows.table).insert(row) })
        }
        return samples
    }
}
