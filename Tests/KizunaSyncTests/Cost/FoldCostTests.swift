import Foundation
import KizunaCore
import KizunaPostgREST
import KizunaStore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

/// What a write costs a list: pieces made anew, not times.
@Suite struct FoldCostTests {
    private static let table = TableID(name: "tasks")
    private static let shape = QueryShape(
        request: TableRequest(schema: "public", table: "tasks"), types: TableTypes(), keyColumns: ["id"])

    private static func json(_ number: Int) -> RawJSON {
        RawJSON(unchecked: Array(#"{"id":"k\#(number)","n":\#(number)}"#.utf8))
    }

    private static func stored(_ count: Int) -> [StoredRow] {
        (0..<count).map { StoredRow(slot: Int64($0), key: RowKey(text: "k\($0)"), json: json($0)) }
    }

    private static func update(_ number: Int, id: String? = nil) -> QueuedMutation {
        QueuedMutation(
            id: id ?? "u\(number)", table: table,
            operation: .update(
                patch: RawJSON(unchecked: Array(#"{"n":-1}"#.utf8)),
                filters: [.init(name: "id", value: "eq.k\(number)")]), rowKeys: [RowKey(text: "k\(number)")],
            createdAt: Date(timeIntervalSince1970: 0))
    }

    private static func insert(_ number: Int) -> QueuedMutation {
        QueuedMutation(
            id: "i\(number)", table: table, operation: .insert(row: json(number)),
            rowKeys: [RowKey(text: "k\(number)")], createdAt: Date(timeIntervalSince1970: 0))
    }

    /// How many stretches of the list differ.
    private func piecesMadeAnew(_ before: ShownRows?, _ after: ShownRows?) -> Int {
        guard let before, let after else { return .max }
        let shared = after.chunksShared(with: before)
        return after.chunkCount - shared.front - shared.back
    }

    @Test(arguments: [1_000, 10_000]) func oneWriteMakesOnePieceOfTheListAnew(_ count: Int) {
        var fold = OverlayFold(shape: Self.shape, base: Self.stored(count))
        let before = fold.rows
        fold.apply(Self.update(count / 2))
        let after = fold.rows
        #expect(piecesMadeAnew(before, after) == 1)
        #expect(before != after)
        fold.apply(Self.insert(count))
        #expect(piecesMadeAnew(after, fold.rows) == 1)
        #expect(fold.rows?.count == count + 1)
    }

    @Test func aDeliveredWriteMakesOnePieceOfTheListAnew() {
        var read = LiveReadMachine(shape: Self.shape, cacheKey: "key")
        let head = CachedQueryMetadata(
            id: 1, cacheKey: "key", table: Self.table, parameters: [], fetchedAt: Date(timeIntervalSince1970: 0),
            isStale: false, isComplete: true, hasPlainColumns: true)
        let entries = (0..<100).map { Self.update($0 * 7) }
        read.loaded(
            CachedQuerySnapshot(
                list: CachedQuery(head: head, rows: Self.stored(2_000)), entries: entries, known: [:], rejected: [])
        )
        let before = read.snapshot(refresh: .idle, isCacheOnly: false).rows
        var change = StoreChange()
        change.ended = [.init(id: entries[50].id, table: entries[50].table, fate: .withdrawn)]
        var edit = CachedQueryEdit()
        edit.replaced = [.init(key: RowKey(text: "k350"), json: Self.json(-350))]
        change.lists["key"] = .edited(edit)
        _ = read.changed(change, ownResponse: nil)
        let after = read.snapshot(refresh: .idle, isCacheOnly: false).rows
        #expect(piecesMadeAnew(before, after) == 1)
        #expect(after?.first { $0.key?.text == "k350" }?.json == Self.json(-350))
        #expect(after?.filter(\.isPending).count == 99)
    }

    @Test func aChangedRowIsTheOnlyOneDecoded() throws {
        try ReadScene.run(Self.scene(rows: 600)) { scene in
            let watch = Watch(scene.client.from("tasks").selectAsSequence(as: [CountedRow].self), in: scene.simulation)
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.emissions.last?.result?.count == 600)
            scene.transport.isOnline = false
            let before = CountedRow.decoded
            try await scene.client.from("tasks").update(["title": "other"]).eq("id", value: "k300").execute()
            await scene.simulation.settle()
            #expect(watch.emissions.last?.result?[300].title == "other")
            #expect(CountedRow.decoded - before == 1)
            // The same answer again, but for that row, and a row that is new.
            scene.transport.isOnline = true
            await scene.simulation.advance(by: .seconds(120))
            let delivered = CountedRow.decoded
            try scene.server.insert(#"[{"id":"new","title":"new","done":false}]"#, into: "tasks")
            _ = try await scene.client.from("tasks").select(as: [RawJSON].self, readStrategy: .networkOnly).execute()
            await scene.simulation.settle()
            #expect(watch.emissions.last?.result?.count == 601)
            #expect(CountedRow.decoded - delivered == 1)
        }
    }

    private static func scene(rows: Int) -> ReadScene.Options {
        var options = ReadScene.Options()
        let texts = (0..<rows).map { #"{"id":"k\#($0)","title":"t\#($0)","done":false}"# }
        options.rows = "[" + texts.joined(separator: ",") + "]"
        return options
    }
}

/// A row that counts how often one was decoded. Used by one test alone.
private struct CountedRow: Decodable, Sendable {
    private static let counter = Mutex(0)
    static var decoded: Int { counter.withLock { $0 } }

    let title: String

    private enum Column: String, CodingKey {
        case title
    }

    init(from decoder: any Decoder) throws {
        Self.counter.withLock { $0 += 1 }
        title = try decoder.container(keyedBy: Column.self).decode(String.self, forKey: .title)
    }
}
