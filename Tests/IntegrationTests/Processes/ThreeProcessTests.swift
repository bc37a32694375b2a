import Foundation
import KizunaCore
import KizunaLocal
import KizunaSync
import KizunaSyncTesting
import TestSupport
import Testing

/// Three processes with one store, stopped, let go on and killed at random, while requests and answers are lost. A failure
/// prints its seed; `KIZUNA_CRASH_SEED` picks one.
@Suite struct ThreeProcessTests {
    @Test func nothingIsLostOrDoneTwiceAndOneSendsAtATime() async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            for seed in RandomCrashTests.seeds(default: 2) {
                try await ProcessTale(seed: seed, lease: .seconds(3)).run(on: backend)
            }
        }
    }
}

/// Many of them, with a lease so short that a busy machine answers later than it lasts: to be run beside nothing else.
@Suite struct ThreeProcessSlowTests {
    @Test(arguments: 0..<2)
    func nothingIsLostOrDoneTwiceAndOneSendsAtATime(part: UInt64) async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            for seed in RandomCrashTests.seeds(default: 40) where seed % 2 == part {
                try await ProcessTale(seed: 5_000 + seed, lease: .seconds(1)).run(on: backend)
            }
        }
    }
}

/// One random run.
private struct ProcessTale {
    let seed: UInt64
    let lease: Duration

    /// One of the three, over all its lives.
    private struct Life {
        let number: Int
        var rest: [String]
        var worker: WorkerProcess
        var lives = 1
        var isStopped = false
        var isOver = false
        /// What was accepted for certain, and what may have been when it was killed.
        var done: [(step: String, isCertain: Bool)] = []

        var sender: String { "w\(number).\(lives)" }
        var prefix: String { noteKey(number * 4_096).dropLast(3).description }

        mutating func take(_ end: WorkerProcess.End) {
            let writes = rest.filter { !$0.hasPrefix("wait") }
            let count = end.accepted.count
            done += writes.prefix(count).map { ($0, true) }
            if writes.count > count { done.append((writes[count], false)) }
            var left = count + 1
            rest = Array(
                rest.drop { step in
                    if !step.hasPrefix("wait") { left -= 1 }
                    return left > 0 || (left == 0 && !step.hasPrefix("wait"))
                })
        }

        /// The tables that may be meant: with and without each write of which nobody knows.
        var intended: [[String: String]] {
            let open = done.indices.filter { !done[$0].isCertain }
            return (0..<(1 << open.count)).map { choice in
                intendedNotes(
                    after: done.indices.filter { index in
                        guard let at = open.firstIndex(of: index) else { return true }
                        return choice & (1 << at) != 0
                    }.map { done[$0].step })
            }
        }
    }

    func run(on backend: LocalBackend) async throws {
        var random = SeededRandom(seed: seed)
        try await backend.execute("TRUNCATE notes, changes")
        backend.control.removeFault()
        backend.control.clearRequests()
        let scene = try CrashScene(backend)
        var killedAt: [String: ContinuousClock.Instant] = [:]
        var story: [String] = []
        var lives: [Life] = []
        for number in 1...3 {
            let job = Self.job(number, &random)
            lives.append(Life(number: number, rest: job, worker: try start(job, "w\(number).1", scene)))
        }
        for _ in 0..<14 {
            let at = random.below(3)
            if lives.allSatisfy(\.isOver) { break }
            switch random.below(6) {
            case 0...2 where lives[at].isOver: break
            case 0...1:
                if lives[at].isStopped { lives[at].worker.resume() } else { lives[at].worker.stop() }
                lives[at].isStopped.toggle()
                story.append("\(lives[at].sender) \(lives[at].isStopped ? "stopped" : "goes on")")
            case 2:
                killedAt[lives[at].sender] = .now
                lives[at].worker.kill()
                let end = try await lives[at].worker.end()
                story.append("\(lives[at].sender): \(end)")
                lives[at].take(end)
                guard end.isKilled else {
                    killedAt[lives[at].sender] = nil
                    lives[at].isOver = true
                    #expect(end.status == 0, "seed \(seed): \(story.joined(separator: "\n"))")
                    break
                }
                lives[at].lives += 1
                lives[at].isStopped = false
                lives[at].worker = try start(lives[at].rest, lives[at].sender, scene)
            case 3:
                let action: FaultAction = random.oneIn(2) ? .dropAnswer : .dropRequest
                backend.control.add(FaultRule(action, method: "POST", path: "/rest/v1/notes"))
            default: break
            }
            try await SyncEnvironment.live().sleep(
                random.oneIn(5) ? lease * 1.5 : .milliseconds(20 + random.below(150)))
        }
        for life in lives { life.worker.resume() }
        for at in lives.indices where !lives[at].isOver {
            let end = try await lives[at].worker.end(within: .seconds(60))
            story.append("\(lives[at].sender): \(end)")
            lives[at].take(end)
            #expect(end.status == 0, "seed \(seed): \(story.joined(separator: "\n"))")
        }
        let calm = try await scene.run()
        let what: Comment = "seed \(seed): \(story.joined(separator: "\n"))"
        #expect(calm.rejected == 0, what)
        let notes = try await scene.serverNotes()
        for life in lives {
            let own = notes.filter { $0.key.hasPrefix(life.prefix) }
            #expect(life.intended.contains(own), "\(life.number): the server has \(own), \(what)")
        }
        let twice = try await scene.insertedTwice().filter { key in
            lives.contains { $0.done.contains { $0.step.hasPrefix("insert \(key)") } }
        }
        #expect(twice.isEmpty, what)
        expectOneAtATime(scene.writes, killedAt, what)
    }

    private func start(_ job: [String], _ sender: String, _ scene: CrashScene) throws -> WorkerProcess {
        try scene.start(job, ["KIZUNA_SENDER": sender, "KIZUNA_LEASE_MS": "\(Int(lease.seconds * 1_000))"])
    }

    /// No write comes to the server while another process's is there, unless that one was killed.
    private func expectOneAtATime(
        _ writes: [LoggedRequest], _ killedAt: [String: ContinuousClock.Instant], _ what: Comment
    ) {
        for (index, one) in writes.enumerated() {
            for other in writes[(index + 1)...] where other.sender != one.sender {
                guard let end = one.endedAt, other.arrivedAt < end else { continue }
                let isKilled = one.sender.flatMap { killedAt[$0] }.map { $0 <= other.arrivedAt } ?? false
                #expect(isKilled, "\(one.sender ?? "-") and \(other.sender ?? "-") sent at a time, \(what)")
            }
        }
    }

    /// Writes that none can refuse whatever became of those before: rows of new keys, and rows of four keys made, changed
    /// and removed.
    private static func job(_ number: Int, _ random: inout SeededRandom) -> [String] {
        (0..<25).flatMap { step -> [String] in
            let key = noteKey(number * 4_096 + random.below(4))
            let write =
                switch random.below(4) {
                case 0: "insert \(noteKey(number * 4_096 + 256 + step)) n\(step)"
                case 1: "delete \(key)"
                default: "upsert \(key) n\(step)"
                }
            return [write, "wait \(random.below(90))"]
        }
    }
}
