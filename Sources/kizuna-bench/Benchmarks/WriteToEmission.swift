internal import Foundation
internal import KizunaStore
internal import KizunaSync

/// From calling a write to the snapshot of a live read that shows it, by the length of the list.
enum WriteToEmission {
    static func run(isQuick: Bool) async throws -> [Figure] {
        var figures: [Figure] = []
        for count in isQuick ? [1_000] : [1_000, 10_000, 100_000] {
            figures += try await run(count, writes: isQuick ? 50 : 300)
        }
        return figures
    }

    private static func run(_ count: Int, writes: Int) async throws -> [Figure] {
        try await withFolder { folder in
            let body = BenchRows.response(0..<count)
            let client = try await BenchClient.make(BodyTransport { _ in body }, folder: folder)
            let read = client.from(BenchRows.table).selectAsSequence(as: [TaskRow].self).makeAsyncIterator()
            // Kept, as in an app that shows it.
            var shown = try await read.first { !$0.isFromCache && $0.result?.count == count }
            try await client.disableNetwork()
            let durable = try await updates(client, read, &shown, count, writes)
            let inserts = try await self.inserts(client, read, &shown, count, writes / 3)
            try await client.engine().context.owners.handle().store.relaxDurability()
            let usedBefore = Processor.used
            let relaxed = try await updates(client, read, &shown, count, writes)
            let used = Processor.used - usedBefore
            await client.close()
            let isGoal = count == 10_000
            let name = "write -> emission, \(count) rows"
            return [
                Figure("\(name), update p50", durable.p50, .milliseconds, goal: isGoal ? .atMost(1) : nil),
                Figure("\(name), update p99", durable.p99, .milliseconds, goal: isGoal ? .atMost(5) : nil),
                Figure("\(name), insert p50", inserts.p50, .milliseconds),
                Figure("\(name), insert p99", inserts.p99, .milliseconds),
                Figure(
                    "\(name), update p50 without fsync", relaxed.p50, .milliseconds, goal: isGoal ? .atMost(1) : nil),
                Figure(
                    "\(name), update p99 without fsync", relaxed.p99, .milliseconds, goal: isGoal ? .atMost(5) : nil),
                Figure(
                    "\(name), processor time per update", used.milliseconds / Double(max(1, relaxed.count)),
                    .milliseconds),
                Figure("\(name), share of fsync", 100 * (1 - relaxed.p50 / durable.p50), .percent),
            ]
        }
    }

    private static func updates(
        _ client: KizunaSyncClient, _ read: QuerySnapshotSequence<[TaskRow]>.Iterator,
        _ shown: inout QuerySnapshot<[TaskRow]>, _ count: Int, _ writes: Int
    ) async throws -> Samples {
        var samples = Samples()
        for write in 0..<writes where !samples.isLongEnough {
            let at = (write * 7_919) % count
            let title = "changed \(write) at \(ContinuousClock.now)"
            let start = ContinuousClock.now
            try await client.from(BenchRows.table).update(["title": title]).eq("id", value: BenchRows.id(at)).execute()
            shown = try await read.first { $0.result?[at].title == title }
            samples.add(start.duration(to: .now))
        }
        return samples
    }

    private static func inserts(
        _ client: KizunaSyncClient, _ read: QuerySnapshotSequence<[TaskRow]>.Iterator,
        _ shown: inout QuerySnapshot<[TaskRow]>, _ count: Int, _ writes: Int
    ) async throws -> Samples {
        var samples = Samples()
        for write in 0..<writes where !samples.isLongEnough {
            var row = InsertedTask(NewTask(count + write))
            row.title = "inserted \(write)"
            let title = row.title
            let start = ContinuousClock.now
            try await client.from(BenchRows.table).insert(row)
            shown = try await read.first { $0.result?.last?.title == title }
            samples.add(start.duration(to: .now))
        }
        return samples
    }
}

/// A row with all columns that the list decodes, so that the list shows it before delivery.
struct InsertedTask: Codable, Sendable {
    var id: String?
    var list_id: String
    var title: String
    var position: Int
    var done = false
    var created_at = "2025-11-03T10:15:30.123456+00:00"

    init(_ task: NewTask) {
        id = task.id
        list_id = task.list_id
        title = task.title
        position = task.position
    }
}
