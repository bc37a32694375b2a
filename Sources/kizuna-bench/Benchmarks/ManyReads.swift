internal import Foundation
internal import KizunaSync

/// Twenty live reads during many writes: the time from the last commit until the last read shows all writes.
enum ManyReads {
    private static let reads = 20
    private static let batches = 10

    static func run(isQuick: Bool) async throws -> [Figure] {
        let writes = isQuick ? 500 : 5_000
        let late = try await withFolder { folder in try await measure(folder, writes) }
        return [
            Figure(
                "\(reads) live reads, \(writes) writes in \(batches) batches, last emission after", late.milliseconds,
                .milliseconds, goal: .atMost(100))
        ]
    }

    private static func measure(_ folder: URL, _ writes: Int) async throws -> Duration {
        let body = BenchRows.response(0..<1_000)
        let commits = Latest()
        let client = try await BenchClient.make(BodyTransport { _ in body }, folder: folder) { commits.note() }
        let (ready, begun) = AsyncStream<Void>.makeStream()
        return try await withThrowingTaskGroup(of: ContinuousClock.Instant.self) { group in
            for number in 0..<reads {
                group.addTask {
                    // The writer must not wait for a failed read.
                    defer { begun.finish() }
                    // Different bounds, so that no two reads are shared.
                    let sequence = client.from(BenchRows.table).selectAsSequence(as: [TaskRow].self)
                    let read = sequence.gte("position", value: -number).makeAsyncIterator()
                    _ = try await read.first { !$0.isFromCache && $0.result?.count == 1_000 }
                    begun.yield()
                    _ = try await read.first { $0.result?.count == 1_000 + writes }
                    return .now
                }
            }
            var begunReads = ready.makeAsyncIterator()
            for _ in 0..<reads { await begunReads.next() }
            try await client.disableNetwork()
            let size = writes / batches
            for batch in 0..<batches {
                let rows = (0..<size).map { InsertedTask(NewTask(1_000 + batch * size + $0)) }
                try await client.from(BenchRows.table).insert(rows)
            }
            // Taken before the commit; the measurement includes the disk.
            let committed = commits.instant
            var last = committed
            for try await shown in group { last = max(last, shown) }
            await client.close()
            return committed.duration(to: last)
        }
    }
}
