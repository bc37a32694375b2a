import KizunaSync
import KizunaSyncTesting
import TestSupport
import Testing

/// Three processes that write, are stopped, killed and started again, with requests and answers lost on the way. A failure
/// prints its seed.
@Suite struct ProcessStoryTests {
    @Test(arguments: UInt64(1)...4)
    func nothingIsLostOrDoneTwiceWhateverIsStoppedOrKilled(seed: UInt64) throws { try ProcessStory(seed: seed).run() }
}

/// Many of them.
@Suite struct ProcessStorySlowTests {
    @Test(arguments: UInt64(100)...300)
    func nothingIsLostOrDoneTwiceWhateverIsStoppedOrKilled(seed: UInt64) throws { try ProcessStory(seed: seed).run() }
}

private struct ProcessStory {
    let seed: UInt64

    /// A write request on its way: the server's own time is 30 ms.
    private struct Sent {
        let process: Int32
        let at: Duration
    }

    func run() throws {
        try ProcessWorld.run(seed: seed, interleaving: .shuffled) { world in
            var random = SeededRandom(seed: seed)
            let losesResponses = random.oneIn(2)
            var apps: [ProcessWorld.App] = []
            var previous: [ProcessWorld.App] = []
            var killedAt: [Int32: Duration] = [:]
            for _ in 0..<3 { apps.append(try await world.start()) }
            world.world.server.latency = .milliseconds(30)
            var stopped: Set<Int> = []
            var intended: [String: String] = [:]
            for number in 0..<60 {
                let at = random.below(3)
                switch random.below(9) {
                case 0:
                    apps[at].process.stop()
                    stopped.insert(at)
                case 1:
                    apps[at].process.resume()
                    stopped.remove(at)
                case 2 where random.oneIn(2):
                    apps[at].process.kill()
                    killedAt[apps[at].process.number] = world.simulation.elapsed
                    stopped.remove(at)
                    previous.append(apps[at])
                    apps[at] = try await world.start()
                case 3 where losesResponses:
                    apps[at].network.plant(random.oneIn(2) ? .dropResponse : .dropBeforeHandling)
                case 4...5:
                    guard !stopped.contains(at), !intended.isEmpty else { break }
                    let key = random.pick(intended.keys.sorted())
                    intended[key] = "u\(number)"
                    _ = try await apps[at].client.from("items").update(["title": "u\(number)"]).eq("id", value: key)
                        .execute()
                default:
                    guard !stopped.contains(at) else { break }
                    intended[try await apps[at].insert("w\(number)").rowIDs[0]] = "w\(number)"
                }
                await world.advance(random.below(random.oneIn(6) ? 4_000 : 60))
            }
            for app in apps { app.process.resume() }
            await world.advance(120_000)
            let what: Comment = "seed \(seed)"
            #expect(world.world.titles.sorted() == intended.values.sorted(), what)
            let inserted = world.world.server.mutations.filter { $0.operation == .insert }.count
            #expect(inserted == intended.count, what)
            for app in apps {
                let depth = try await app.client.outboxDepth()
                let rejected = try await WriteWorld.first(app.client.rejectedMutations)
                #expect(depth == 0, what)
                #expect(rejected?.isEmpty == true, what)
            }
            if !losesResponses { expectOneAtATime(apps + previous, killedAt, what) }
        }
    }

    /// No process sends while another's request is out, unless that one was killed.
    private func expectOneAtATime(
        _ apps: [ProcessWorld.App], _ killedAt: [Int32: Duration], _ what: Comment
    ) {
        let sent = apps.flatMap { app in
            app.network.sent.filter { $0.request.method != "GET" && $0.leftDevice }.map {
                Sent(process: app.process.number, at: $0.sentAt)
            }
        }
        func wasKilled(_ one: Sent, before other: Sent) -> Bool {
            killedAt[one.process].map { $0 <= other.at } ?? false
        }
        for one in sent {
            for other in sent where other.process != one.process && other.at >= one.at {
                // At one instant, either may have been the first.
                let isOver = wasKilled(one, before: other) || one.at == other.at && wasKilled(other, before: one)
                #expect(isOver || other.at - one.at >= .milliseconds(30), "\(one) \(other) \(what)")
            }
        }
    }
}
