import KizunaLocal
import KizunaSync
import TestSupport
import Testing

/// Answers a real server did not get across whole.
@Suite struct BrokenResponseTests {
    @Test func aBodyThatEndsEarlyLeavesTheRowsAndIsAskedAgain() async throws {
        try await SharedCluster.withBackend(
            Schemas.notes,
            "INSERT INTO notes SELECT gen_random_uuid(), 'note ' || n FROM generate_series(1, 200) AS n"
        ) { backend in
            let device = try await Device(backend)
            #expect(try await device.pull().count == 200)
            try await backend.execute("INSERT INTO notes SELECT gen_random_uuid(), 'later' FROM generate_series(1, 50)")
            backend.control.add(FaultRule(.truncateAnswer(), path: "/rest/v1/notes", count: 2))
            var seen: [String] = []
            read: for try await snapshot in device.notes.selectAsSequence(as: [Note].self).order("id") {
                let line = "\(snapshot.result?.count ?? -1) \(snapshot.isFromCache ? "cache" : "server")"
                if seen.last != line { seen.append(line) }
                if !snapshot.isFromCache { break read }
            }
            #expect(seen == ["200 cache", "250 server"])
            #expect(backend.control.requests.count { $0.method == "GET" } == 4)
            await device.client.close()
        }
    }
}
