import KizunaLocal
import KizunaSync
import TestSupport
import Testing

/// A real server that gives a hundred rows at most and does not say so.
@Suite struct CompletenessServerTests {
    private static let rows =
        "INSERT INTO notes SELECT gen_random_uuid(), 'note ' || (n % 7) FROM generate_series(1, 250) AS n"

    @Test func aCutAnswerIsNotCalledWholeAndPagesMakeItSo() async throws {
        try await SharedCluster.withBackend(Schemas.notes, Self.rows, settings: LocalSettings(maxRows: 100)) {
            backend in
            let plain = try await Device(backend)
            let cut = try await plain.notes.select(as: [Note].self, readStrategy: .networkOnly).order("title").execute()
            #expect(cut.result?.count == 100)
            #expect(!cut.isComplete)
            await plain.client.close()

            let device = try await Device(backend) {
                $0.tables = [KizunaTable("notes", completeness: .pagesUntilComplete)]
            }
            // Many rows share a title: where a page ends, the key decides.
            let whole = try await device.notes.select(as: [Note].self, readStrategy: .networkOnly).order("title")
                .execute()
            #expect(whole.isComplete)
            let server = try await backend.query("SELECT id, title FROM notes")
            #expect(Set((whole.result ?? []).map(\.id)) == Set(server.compactMap { $0["id"] }))
            #expect(whole.result?.count == 250)
            #expect(whole.result?.map(\.title) == server.compactMap { $0["title"] }.sorted())
            await device.client.close()
        }
    }
}
