import Foundation
import KizunaCore
import KizunaStore
import KizunaSync
import KizunaSyncTesting
import Testing

/// One run in which owners come and go while requests wait, drawn from a seed.
private struct LateResponseRun {
    let scene: OwnerScene
    let client: KizunaSyncClient
    let watch: OwnerWatch
    var random: SeededRandom
    var present: String?
    var written: [String: Set<String>] = [:]
    /// Writes that a clear may have taken, or not.
    var maybeCleared: Set<String> = []
    var waits: [Task<Void, any Error>] = []
    var count = 0

    mutating func act() async throws {
        switch random.next() % 12 {
        case 0: try await change(to: OwnerScene.users[Int(random.next() % 2)])
        case 1: try await change(to: nil)
        case 2: try await clear()
        case 3, 4, 5: try await write()
        case 6, 7, 8, 9:
            scene.network.release(Int(random.next() % 64), OwnerNetwork.Fate.allCases[Int(random.next() % 6)])
        case 10: await settled()
        default:
            await scene.simulation.advance(by: .milliseconds(Int(random.next() % 4_000)))
            await settled()
        }
    }

    /// What was already on its way to the wire when the owner changed has left: from now on, nothing of the former.
    func settled() async {
        await scene.simulation.settle()
        watch.allow(present.map { [$0] } ?? [])
        scene.network.allowed = [present]
    }

    mutating func change(to user: String?) async throws {
        watch.allow(nil)
        if let user {
            count += 1
            try await scene.signIn(user, on: client, serial: count)
        } else {
            try await scene.signOut(on: client)
        }
        present = user
        if random.chance(0.6) { await settled() }
    }

    mutating func clear() async throws {
        try await client.clearLocalData(keepingQueue: false)
        if let present { maybeCleared.formUnion(written[present] ?? []) }
    }

    mutating func write() async throws {
        guard let present else { return }
        count += 1
        let title = "write \(count) of \(present)"
        let receipt = try await scene.insert(title, as: present, on: client)
        written[present, default: []].insert(title)
        // Every wait for a verdict must end, whatever becomes of the owner.
        waits.append(
            scene.simulation.start {
                do { _ = try await receipt.delivered() } catch is SyncError {}
            })
    }

    /// The world is kind again: everything waiting is let go, and each user comes once more.
    mutating func finish() async throws {
        scene.network.isHolding = false
        // One that was about to be held when the world turned kind is held all the same.
        await scene.simulation.settle()
        while scene.network.waitingCount > 0 {
            scene.network.release(0, .handledAndLost)
            await scene.simulation.settle()
        }
        for user in OwnerScene.users {
            try await change(to: user)
            await scene.simulation.advance(by: .seconds(180))
        }
        try await change(to: nil)
        await scene.simulation.settle()
        for wait in waits { _ = try await wait.value }
    }
}

/// Runs one seed and gives back what went wrong.
private func lateResponses(seed: UInt64, steps: Int) throws -> [String] {
    try withTemporaryFolder { folder in
        try Simulation.run(seed: seed, interleaving: .shuffled) { simulation in
            let scene = try OwnerScene(simulation, folder: folder)
            let client = try await scene.client()
            let watch = OwnerWatch(client, in: simulation)
            var run = LateResponseRun(scene: scene, client: client, watch: watch, random: simulation.forkRandom())
            scene.network.isHolding = true
            for _ in 0..<steps { try await run.act() }
            try await run.finish()
            var waiting: [String: Int] = [:]
            for user in OwnerScene.users { waiting[user] = try await client.pendingMutationCount(owner: user) }
            await client.close()
            var faults = scene.network.faults + watch.faults + (try scene.strangers())
            if let error = watch.error { faults.append("the live read failed: \(error)") }
            for (user, written) in run.written {
                let arrived = scene.titles(of: user)
                if Set(arrived).count != arrived.count { faults.append("a write of \(user) arrived twice") }
                let missing = written.subtracting(arrived).subtracting(run.maybeCleared)
                if !missing.isEmpty {
                    faults.append(
                        "writes of \(user) are lost: \(missing.sorted()); \(waiting[user] ?? 0) of the user's wait")
                }
            }
            for mutation in scene.server.mutations where mutation.userID.map({ !mutation.row.contains($0) }) ?? false {
                faults.append("a row of another was written as \(mutation.userID ?? "nobody")")
            }
            return faults
        }
    }
}

@Suite struct LateResponseTests {
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func responsesThatComeLateMeetNobodyElse(seed: UInt64) throws {
        let faults = try lateResponses(seed: seed, steps: 60)
        #expect(faults.isEmpty, "seed \(seed): \(faults)")
    }
}

@Suite struct LateResponseSlowTests {
    @Test func answersThatComeLateMeetNobodyElseInManyOrders() throws {
        for seed in 1_000...(1_600 as UInt64) {
            let faults = try lateResponses(seed: seed, steps: 120)
            #expect(faults.isEmpty, "seed \(seed): \(faults)")
        }
    }
}
