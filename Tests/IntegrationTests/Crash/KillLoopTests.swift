import KizunaLocal
import Testing

/// A scenario is killed before its first commit, then before its second, and so on until it ends.
@Suite struct KillLoopTests {
    private static let job =
        (1...3).map { "insert \(noteKey($0)) first\($0)" } + [
            "update \(noteKey(1)) second1", "upsert \(noteKey(2)) second2", "delete \(noteKey(3))",
            "upsert \(noteKey(4)) first4", "update \(noteKey(4)) second4", "insert \(noteKey(3)) again3",
        ]

    @Test(arguments: [true, false])
    func eachMutationIsDeliveredOnceWhenKilledBeforeAnyCommit(isOfflineFirst: Bool) async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            var commit = 1
            while true {
                try await backend.execute("TRUNCATE notes, changes")
                backend.control.clearRequests()
                let scene = try CrashScene(backend)
                let end = try await scene.run(Self.job, kill: "commit \(commit)", isOfflineFirst: isOfflineFirst)
                try await check(scene, end, "killed at commit \(commit)")
                guard end.isKilled else { break }
                commit += 1
                try #require(commit < 200, "the job does not come to an end")
            }
            // Nine mutations are queued, sent and delivered, one by one or in batches; each step has a commit of its own.
            #expect(commit > 15, "the job died at \(commit - 1) places only")
        }
    }

    private func check(_ scene: CrashScene, _ end: WorkerProcess.End, _ what: String) async throws {
        let accepted = end.accepted.count
        let drained = end.isKilled ? try await scene.run() : end
        #expect(drained.rejected == 0, "\(what): \(drained)")
        let notes = try await scene.serverNotes()
        // A process can be killed between the commit of a mutation and its report.
        let candidates = [accepted, accepted + 1].map { intendedNotes(after: Self.job.prefix($0)) }
        #expect(candidates.contains(notes), "\(what): \(accepted) accepted, server has \(notes)")
        let twice = try await scene.backend.query(
            "SELECT id FROM changes WHERE kind = 'INSERT' AND id <> '\(noteKey(3))' GROUP BY id HAVING count(*) > 1")
        #expect(twice.isEmpty, "\(what)")
    }
}
