import Foundation
import KizunaCore
import KizunaStore
import KizunaSyncTesting
import TestSupport
import Testing

/// Files damaged at random places: every write that plain SQLite can still read is saved, and where one is missing the app
/// is told. A failure prints its seed.
@Suite struct RandomDamageTests {
    private static let writes = 240

    @Test(arguments: 0..<4)
    func whatCanBeReadIsSaved(part: UInt64) async throws {
        let template = try StoreScene()
        try await fill(template)
        var damagedOnes = 0
        var saved = 0
        for seed in (UInt64(1)...40) where seed % 4 == part {
            let scene = try template.copy()
            var random = SeededRandom(seed: seed)
            let story = try inflict(&random, on: scene.path)
            let what: Comment = "seed \(seed): \(story)"
            let readable = try readable(scene)
            do {
                let store = try scene.open()
                let found = try await store.pendingEntries()
                let ids = Set(found.map(\.id))
                let lost = readable.subtracting(ids).sorted()
                #expect(lost.isEmpty, what)
                let inOrder = found.map(\.id).filter { readable.contains($0) }
                #expect(inOrder == ordered(readable), what)
                for entry in found where readable.contains(entry.id) {
                    let written = try insertion(String(entry.id.dropFirst(7)))
                    #expect(entry.operation == written.operation, what)
                }
                if let damage = store.damage {
                    damagedOnes += 1
                    saved += found.count
                    #expect(damage.savedWrites == found.count, what)
                    #expect(FileManager.default.fileExists(atPath: damage.path), what)
                    #expect(found.count { $0.maybeSent } == found.count, what)
                }
                if found.count < Self.writes { #expect(store.damage?.isWhole == false, what) }
                let outcome = await Result { _ = try await store.enqueue([try insertion("new")], limit: 1000) }
                await store.close()
                if case .failure(let error) = outcome {
                    // A broken page that only a write meets: the call says so, and the next opening saves what there is.
                    #expect((error as? SyncError)?.code == .storeCorrupt, what)
                    let again = try scene.open()
                    let ids = Set(try await again.pendingEntries().map(\.id))
                    #expect(again.damage != nil && readable.subtracting(ids).isEmpty, what)
                    await again.close()
                }
            } catch let error as SyncError {
                // Of a later version, by a damaged number, or another's, by a damaged name: left as it is.
                #expect([.storeTooNew, .storage].contains(error.code), "\(error), \(what)")
                #expect(FileManager.default.fileExists(atPath: scene.path), what)
                let paths = try scene.folder.files().map(\.path)
                #expect(paths.allSatisfy { !$0.contains(".damaged") }, what)
            }
        }
        #expect(damagedOnes > 3)
        #expect(saved > 100)
    }

    /// Two broken pages: what stands before, behind and between them is saved.
    @Test func whatStandsBetweenTwoBrokenPagesIsSaved() async throws {
        let scene = try StoreScene()
        try await fill(scene)
        let url = URL(fileURLWithPath: scene.path)
        var bytes = try Data(contentsOf: url)
        for number in [60, 180] {
            let text = Data(#"{"id":"k\#(number)","title":"new"}"#.utf8)
            let page = try #require(bytes.range(of: text)).lowerBound / 4096
            for offset in page * 4096..<(page + 1) * 4096 { bytes[offset] = 0xFF }
        }
        try bytes.write(to: url)
        let readable = try readable(scene)
        #expect(!readable.contains("insert-k60") && !readable.contains("insert-k180"))
        #expect(readable.isSuperset(of: ["insert-k0", "insert-k120", "insert-k239"]))
        let store = try scene.open()
        let saved = try await store.pendingEntries().map(\.id)
        #expect(saved == ordered(readable))
        #expect(store.damage?.isWhole == false)
        #expect(try await store.rejectedEntries().count == 20)
        await store.close()
    }

    /// A kill at each step between the damaged file and the new one: the writes are there at the next opening.
    @Test func aRescueThatWasInterruptedIsFinished() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        _ = try await store.enqueue(try (0..<5).map { try insertion("k\($0)") }, limit: 10)
        await store.close()
        let files = FileManager.default
        // Moved aside, and the new one not yet in its place; a log of the damaged one is still there.
        try files.moveItem(atPath: scene.path, toPath: scene.path + ".saved")
        try Data(repeating: 0x37, count: 5_000).write(to: URL(fileURLWithPath: scene.path + "-wal"))
        let again = try scene.open()
        #expect(try await again.pendingEntries().count == 5)
        await again.close()
        #expect(!files.fileExists(atPath: scene.path + ".saved"))
        // Killed before the damaged one was moved aside: what was saved then is saved anew.
        try Data("half a file".utf8).write(to: URL(fileURLWithPath: scene.path + ".saved"))
        let raw = try RawStore(scene.path)
        try raw.execute("UPDATE queue SET operation = 'merge' WHERE sequence = 1")
        raw.close()
        let third = try scene.open()
        #expect(try await third.pendingEntries().map(\.id) == (1..<5).map { "insert-k\($0)" })
        #expect(third.damage?.savedWrites == 4)
        await third.close()
        #expect(!files.fileExists(atPath: scene.path + ".saved"))
    }

    // MARK: -

    private func fill(_ scene: StoreScene) async throws {
        let store = try scene.open()
        for number in 0..<Self.writes { _ = try await store.enqueue([try insertion("k\(number)")], limit: 1000) }
        for number in 0..<20 {
            let entry = try insertion("r\(number)")
            _ = try await store.enqueue([entry], limit: 1000)
            try await store.reject([try rejection(entry)])
        }
        let rows = (0..<200).map { #"{"id":"\#($0)","text":"some text that takes room on a page"}"# }
        _ = try await store.store(try scene.response("[\(rows.joined(separator: ","))]"))
        await store.close()
    }

    private func inflict(_ random: inout SeededRandom, on path: String) throws -> String {
        let url = URL(fileURLWithPath: path)
        var bytes = try Data(contentsOf: url)
        var story: [String] = []
        for _ in 0..<Int(1 + random.next() % 3) {
            let at = Int(random.next() % UInt64(bytes.count))
            let page = at / 4096 * 4096
            switch random.next() % 8 {
            case 0...2:
                let count = min(Int(1 + random.next() % 300), bytes.count - at)
                for offset in 0..<count { bytes[at + offset] = UInt8(truncatingIfNeeded: random.next()) }
                story.append("\(count) bytes at \(at)")
            case 3, 4:
                for offset in page..<min(page + 4096, bytes.count) { bytes[offset] = 0 }
                story.append("page \(page / 4096) zeroed")
            case 5, 6:
                for offset in page..<min(page + 4096, bytes.count) {
                    bytes[offset] = UInt8(truncatingIfNeeded: random.next())
                }
                story.append("page \(page / 4096) scrambled")
            default:
                bytes = bytes.prefix(max(4096, at))
                story.append("cut at \(at)")
            }
        }
        try bytes.write(to: url)
        return story.joined(separator: ", ")
    }

    /// The writes that plain SQLite reads out of a copy of the file, each on its own, as they were written.
    private func readable(_ scene: StoreScene) throws -> Set<String> {
        let path = scene.folder.path + "/copy.sqlite"
        try FileManager.default.copyItem(atPath: scene.path, toPath: path)
        guard let raw = try? RawStore(path) else { return [] }
        defer { raw.close() }
        var readable: Set<String> = []
        for number in 0..<Self.writes {
            let (id, body) = ("insert-k\(number)", #"{"id":"k\#(number)","title":"new"}"#)
            let count = try? raw.number(
                """
                SELECT count(*) FROM queue WHERE sequence = \(number + 1) AND id = '\(id)' AND operation = 'insert'
                AND CAST(body AS TEXT) = '\(body)' AND row_keys = '["k\(number)"]' AND tbl = 'tasks' AND schema = 'public'
                """)
            if count == 1 { readable.insert(id) }
        }
        return readable
    }

    private func ordered(_ ids: Set<String>) -> [String] {
        (0..<Self.writes).map { "insert-k\($0)" }.filter { ids.contains($0) }
    }
}
