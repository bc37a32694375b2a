internal import Foundation
internal import KizunaCore
internal import KizunaStore

/// From the body of a response to its rows on disk, compared with a loop over SQLite calls.
enum ResponseStored {
    static func run(isQuick: Bool) async throws -> [Figure] {
        let count = isQuick ? 5_000 : 50_000
        let body = BenchRows.response(0..<count)
        let changed = BenchRows.response(0..<count) { $0 % 100 == 7 ? "another title \($0)" : nil }
        let rows = try BareLoop.rows(of: body)
        var first = Samples()
        var again = Samples()
        var some = Samples()
        var bare = Samples()
        var used = Samples()
        var bareUsed = Samples()
        for _ in 0..<(isQuick ? 1 : 5) {
            try await withFolder { folder in
                let atStart = Processor.used
                bare.add(try BareLoop.run(rows, body, path: folder.appendingPathComponent("bare").path))
                bareUsed.add(Processor.used - atStart)
                let logicalClock = LogicalClock()
                let store = try OwnerStore(
                    file: StoreFile(path: folder.appendingPathComponent("vault").path), owner: "bench",
                    logicalClock: logicalClock,
                    now: Date()
                ) { _ in }
                let atStore = Processor.used
                first.add(try await persist(body, in: store, at: logicalClock))
                used.add(Processor.used - atStore)
                again.add(try await persist(body, in: store, at: logicalClock))
                some.add(try await persist(changed, in: store, at: logicalClock))
                await store.close()
            }
        }
        let rate = 1_000 * Double(count) / first.p50
        let bareRate = 1_000 * Double(count) / bare.p50
        let name = "answer -> stored, \(count) rows"
        return [
            Figure(name, rate, .perSecond, goal: isQuick ? nil : .atLeast(250_000)),
            Figure("\(name), bare C loop", bareRate, .perSecond),
            Figure("\(name), of the C loop", 100 * rate / bareRate, .percent, goal: .atLeast(60)),
            Figure("\(name), of the C loop by processor time", 100 * bareUsed.p50 / used.p50, .percent),
            Figure("\(name), unchanged", 1_000 * Double(count) / again.p50, .perSecond),
            Figure("\(name), 1 % changed", 1_000 * Double(count) / some.p50, .perSecond),
        ]
    }

    /// Splits a response and stores it, as a read does.
    static func persist(_ body: [UInt8], in store: OwnerStore, at logicalClock: LogicalClock) async throws -> Duration {
        try await time {
            let rows = try JSONArraySplitter(keyColumns: ["id"]).rows(of: body)
            let outcome = try await store.store(
                CachedQueryResponse(
                    cacheKey: "tasks", table: TableID(name: BenchRows.table), parameters: [], body: body, rows: rows,
                    askedAt: logicalClock.next(), fetchedAt: Date()))
            guard outcome == .stored else { throw BenchFault("the answer was not stored") }
        }
    }
}
