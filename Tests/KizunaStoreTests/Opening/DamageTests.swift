import TestSupport
import Foundation
import KizunaCore
import KizunaStore
import Testing

@Suite struct DamageTests {
    enum Damage: CaseIterable {
        case garbage
        case cutInTheMiddle
        case queuePage
        case rejectionsPage
        case undecodableWrite
        case versionBelowZero
    }

    @Test(arguments: Damage.allCases)
    func aDamagedFileIsKeptAsideAndANewOneStarts(_ damage: Damage) async throws {
        let scene = try StoreScene()
        try await fill(scene)
        try inflict(damage, on: scene.path)
        let damaged = try Data(contentsOf: URL(fileURLWithPath: scene.path))
        let store = try scene.open()
        let aside = try #require(store.movedAside)
        #expect(aside.hasPrefix(scene.path + ".damaged-"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: aside)) == damaged)
        let saved = try await store.pendingEntries().map(\.id)
        #expect(store.damage?.savedWrites == saved.count)
        let rejections = try await store.rejectedEntries().count
        #expect(store.damage?.savedRejections == rejections)
        switch damage {
        case .garbage, .queuePage: #expect(saved.isEmpty)
        case .cutInTheMiddle: #expect(saved.count < 200)
        case .rejectionsPage, .versionBelowZero: #expect(saved.count == 200)
        case .undecodableWrite: #expect(saved == (0..<200).filter { $0 != 99 }.map { "insert-k\($0)" })
        }
        #expect(store.damage?.isWhole == (damage == .versionBelowZero))
        _ = try await store.enqueue([try insertion("new")], limit: 1000)
        await store.close()
        let again = try scene.open()
        #expect(again.movedAside == nil)
        #expect(try await again.pendingEntries().map(\.id) == saved + ["insert-new"])
        let paths = try scene.folder.files().map(\.path)
        #expect(paths.allSatisfy { !$0.hasSuffix(".saved") })
        await again.close()
    }

    /// A broken page may give a row's number twice. SQLite does not look, and no process must end for it.
    @Test func aNumberThatStandsTwiceIsDamage() async throws {
        for table in ["queue", "rows"] {
            let scene = try StoreScene()
            let store = try scene.open()
            _ = try await store.enqueue([try insertion("a"), try insertion("b"), try insertion("c")], limit: 10)
            _ = try await store.store(try scene.response(#"[{"id":"1"},{"id":"2"},{"id":"3"}]"#))
            _ = try await store.store(try scene.response(#"[{"id":"3"},{"id":"1"},{"id":"2"}]"#))
            await store.close()
            try repeatNumber(of: table, in: scene.path)
            if table == "rows" {
                let reader = try scene.open()
                let error = await #expect(throws: SyncError.self) {
                    try await reader.list(cacheKey: "all", usedAt: day(5))
                }
                #expect(error?.code == .storeCorrupt)
                await reader.close()
            }
            let again = try scene.open()
            #expect(again.damage != nil, Comment(rawValue: table))
            let saved = try await again.pendingEntries().map(\.id)
            #expect(saved == ["insert-a", "insert-b", "insert-c"], Comment(rawValue: table))
            #expect(again.damage?.isWhole == (table == "rows"))
            await again.close()
        }
    }

    @Test func aWriteWhoseConditionsCannotBeReadIsNeverTakenForOneWithoutAny() async throws {
        for text in ["NULL", "''", "'[\"id\"]'", "'[\"id\",5]'", "'nonsense'"] {
            let scene = try StoreScene()
            let store = try scene.open()
            _ = try await store.enqueue([try update("a"), try update("b")], limit: 10)
            await store.close()
            let raw = try RawStore(scene.path)
            try raw.execute("UPDATE queue SET filters = \(text) WHERE id = 'update-a'")
            raw.close()
            let again = try scene.open()
            #expect(try await again.pendingEntries().map(\.id) == ["update-b"], Comment(rawValue: text))
            #expect(again.damage?.isWhole == false)
            await again.close()
        }
    }

    @Test func damageMetWhileInUseIsDealtWithAtTheNextStart() async throws {
        let scene = try StoreScene()
        try await fill(scene)
        try overwritePage(of: "rows", in: scene.path)
        let store = try scene.open()
        #expect(store.movedAside == nil)
        let error = await #expect(throws: SyncError.self) { try await store.list(cacheKey: "all", usedAt: day(5)) }
        #expect(error?.code == .storeCorrupt)
        #expect(try await store.pendingEntries().count == 200, "the queue is still there to be sent")
        await store.close()
        let again = try scene.open()
        #expect(again.movedAside != nil)
        // Nothing of the queue was on the broken page.
        #expect(try await again.pendingEntries().count == 200)
        #expect(try await again.rejectedEntries().count == 1)
        #expect(again.damage?.isWhole == true)
        #expect(try await again.list(cacheKey: "all", usedAt: day(5)) == nil)
        await again.close()
        let third = try scene.open()
        #expect(third.movedAside == nil)
        await third.close()
    }

    @Test func aFalseAlarmChangesNothing() async throws {
        let scene = try StoreScene()
        try await fill(scene)
        _ = FileManager.default.createFile(atPath: scene.path + "-suspect", contents: nil)
        let store = try scene.open()
        #expect(store.movedAside == nil)
        #expect(try await store.pendingEntries().count == 200)
        await store.close()
        #expect(!FileManager.default.fileExists(atPath: scene.path + "-suspect"))
    }

    @Test func lookingForTheOwnerOfADamagedFileMovesNothing() async throws {
        let scene = try StoreScene()
        try await fill(scene)
        try inflict(.garbage, on: scene.path)
        let before = try scene.folder.files().map(\.path)
        #expect(OwnerStore.owner(of: StoreFile(path: scene.path)) == nil)
        #expect(try scene.folder.files().map(\.path) == before)
        let store = try scene.open()
        #expect(store.movedAside != nil, "the owner's own opening reports the damage")
        await store.close()
    }

    // MARK: -

    /// Enough writes and rows that each table has pages of its own.
    private func fill(_ scene: StoreScene) async throws {
        let store = try scene.open()
        _ = try await store.enqueue(try (0..<200).map { try insertion("k\($0)") }, limit: 1000)
        _ = try await store.enqueue([try insertion("r")], limit: 1000)
        try await store.reject([try rejection(try insertion("r"))])
        let rows = (0..<500).map { #"{"id":"\#($0)","text":"some text that takes room on a page"}"# }
        _ = try await store.store(try scene.response("[\(rows.joined(separator: ","))]"))
        await store.close()
    }

    private func inflict(_ damage: Damage, on path: String) throws {
        let url = URL(fileURLWithPath: path)
        switch damage {
        case .garbage: try Data(repeating: 0x5A, count: 20_000).write(to: url)
        case .cutInTheMiddle:
            let bytes = try Data(contentsOf: url)
            try bytes.prefix(bytes.count / 2).write(to: url)
        case .queuePage: try overwritePage(of: "queue", in: path)
        case .rejectionsPage: try overwritePage(of: "refusals", in: path)
        case .undecodableWrite:
            let raw = try RawStore(path)
            try raw.execute("UPDATE queue SET operation = 'merge' WHERE sequence = 100")
            raw.close()
        case .versionBelowZero:
            let raw = try RawStore(path)
            try raw.execute("PRAGMA user_version = -2")
            raw.close()
        }
    }

    /// Gives the third row of a table the number of the second one.
    private func repeatNumber(of table: String, in path: String) throws {
        let raw = try RawStore(path)
        let page = Int(try raw.number("SELECT rootpage FROM sqlite_master WHERE name = '\(table)'"))
        let size = Int(try raw.number("PRAGMA page_size"))
        raw.close()
        let url = URL(fileURLWithPath: path)
        var bytes = try Array(Data(contentsOf: url))
        let start = (page - 1) * size
        try #require(bytes[start] == 0x0D, "a leaf of a table")
        func endOfVariableLength(_ at: Int) -> Int { (bytes[at...].firstIndex { $0 < 0x80 } ?? at) + 1 }
        let numbers = (1...2).map { cell in
            let at = start + Int(bytes[start + 8 + 2 * cell]) << 8 + Int(bytes[start + 9 + 2 * cell])
            let number = endOfVariableLength(at)
            return number..<endOfVariableLength(number)
        }
        bytes.replaceSubrange(numbers[1], with: Array(bytes[numbers[0]]))
        try Data(bytes).write(to: url)
    }

    private func overwritePage(of table: String, in path: String) throws {
        let raw = try RawStore(path)
        let page = try raw.number("SELECT rootpage FROM sqlite_master WHERE name = '\(table)'")
        let size = try raw.number("PRAGMA page_size")
        raw.close()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: UInt64((page - 1) * size))
        try file.write(contentsOf: Data(repeating: 0xFF, count: Int(size)))
        try file.close()
    }
}
