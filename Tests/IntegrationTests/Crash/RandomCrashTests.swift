import Foundation
import KizunaLocal
import KizunaSyncTesting
import Testing

/// Random scenarios with kills, lost requests, lost responses and closed connections. A failure prints its seed.
@Suite struct RandomCrashTests {
    /// The seeds of a run: one with `KIZUNA_CRASH_SEED`, their number with `KIZUNA_CRASH_RUNS`.
    static func seeds(default count: UInt64) -> [UInt64] {
        let variables = ProcessInfo.processInfo.environment
        if let seed = variables["KIZUNA_CRASH_SEED"].flatMap({ UInt64($0) }) { return [seed] }
        return Array(1...(variables["KIZUNA_CRASH_RUNS"].flatMap { UInt64($0) } ?? count))
    }

    @Test func noMutationIsLostOrAppliedTwice() async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            for seed in Self.seeds(default: 6) { try await RandomCrash(seed: seed).run(on: backend) }
        }
    }
}

/// Hundreds of random scenarios.
@Suite struct RandomCrashSlowTests {
    @Test(arguments: 0..<4)
    func noMutationIsLostOrAppliedTwice(part: UInt64) async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            for seed in RandomCrashTests.seeds(default: 500) where seed % 4 == part {
                try await RandomCrash(seed: 1_000 + seed).run(on: backend)
            }
        }
    }
}

/// One random run.
struct RandomCrash {
    let seed: UInt64

    func run(on backend: LocalBackend) async throws {
        var random = SeededRandom(seed: seed)
        try await backend.execute("TRUNCATE notes, changes")
        let scene = try CrashScene(backend)
        let job = Self.job(&random)
        var story = ["job \(job)"]
        var accepted = 0
        for round in 0..<Int(1 + random.next() % 4) {
            backend.control.removeFault()
            let faults = Self.faults(&random)
            for fault in faults { backend.control.add(fault) }
            let kill = random.chance(0.8) ? Self.kill(&random) : nil
            let end = try await scene.run(
                round == 0 ? job : [], kill: kill, isOfflineFirst: round == 0 && random.chance(0.5))
            if round == 0 { accepted = end.accepted.count }
            story.append("\(faults.map(\.action)) \(kill ?? "alive"): \(end)")
        }
        backend.control.removeFault()
        let calm = try await scene.run()
        story.append("calm: \(calm)")
        let what: Comment = "seed \(seed): \(story.joined(separator: "\n"))"
        #expect(calm.rejected == 0, what)
        let candidates = [accepted, accepted + 1].map { intendedNotes(after: job.prefix($0)) }
        let notes = try await scene.serverNotes()
        #expect(candidates.contains(notes), "the server has \(notes), \(what)")
        try await expectNothingTwice(scene, job, what)
    }

    /// Expects each insert, and each upsert of a missing key, to make its row exactly once.
    private func expectNothingTwice(_ scene: CrashScene, _ job: [String], _ what: Comment) async throws {
        var made: [String: Int] = [:]
        for count in job.indices {
            let before = intendedNotes(after: job.prefix(count))
            for key in intendedNotes(after: job.prefix(count + 1)).keys where before[key] == nil {
                made[key, default: 0] += 1
            }
        }
        let rows = try await scene.backend.query(
            "SELECT id, count(*) AS times FROM changes WHERE kind = 'INSERT' GROUP BY id")
        for row in rows {
            let key = row["id"] ?? ""
            #expect(Int(row["times"] ?? "") ?? 0 <= made[key] ?? 0, "\(key), \(what)")
        }
    }

    private static func job(_ random: inout SeededRandom) -> [String] {
        var job: [String] = []
        for number in 0..<Int(3 + random.next() % 7) {
            let key = noteKey(Int(random.next() % 4))
            let isThere = intendedNotes(after: job)[key] != nil
            switch (isThere, random.next() % 4) {
            case (false, 0...2): job.append("insert \(key) n\(number)")
            case (true, 0): job.append("delete \(key)")
            case (true, 1...2): job.append("update \(key) n\(number)")
            default: job.append("upsert \(key) n\(number)")
            }
        }
        return job
    }

    private static func faults(_ random: inout SeededRandom) -> [FaultRule] {
        (0..<Int(random.next() % 4)).map { _ in
            let action: FaultAction =
                switch random.next() % 6 {
                case 0: .dropRequest
                case 1: .cutConnection
                case 2: .truncateAnswer()
                case 3: .delay(.milliseconds(20))
                default: .dropAnswer
                }
            let method = ["POST", "PATCH", "DELETE", "GET", nil].randomElement(using: &random) ?? nil
            return FaultRule(action, method: method, path: "/rest/v1/notes")
        }
    }

    private static func kill(_ random: inout SeededRandom) -> String {
        switch random.next() % 4 {
        case 0: "send \(1 + random.next() % 4)"
        case 1: "response \(1 + random.next() % 4)"
        default: "commit \(1 + random.next() % 20)"
        }
    }
}
