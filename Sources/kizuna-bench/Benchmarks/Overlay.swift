internal import KizunaCore
internal import Foundation
internal import KizunaPostgREST
internal import KizunaStore
internal import KizunaSync

/// Applying queued mutations to cached rows, without store or network.
enum Overlay {
    static func run(isQuick: Bool) async throws -> [Figure] {
        let (rows, writes) = isQuick ? (1_000, 100) : (10_000, 1_000)
        let shape = QueryShape(
            request: TableRequest(schema: "public", table: BenchRows.table), types: TableTypes(), keyColumns: ["id"])
        let base = (0..<rows).map {
            StoredRow(
                slot: Int64($0), key: RowKey(text: BenchRows.id($0)),
                json: RawJSON(unchecked: Array(BenchRows.row($0).utf8)))
        }
        let entries = (0..<writes).map { entry($0, rows) }
        var whole = Samples()
        var each = Samples()
        for _ in 0..<5 {
            var fold = OverlayFold(shape: shape, base: base)
            whole.add(
                time {
                    fold = OverlayFold(shape: shape, base: base)
                    for entry in entries { fold.apply(entry) }
                })
            let more = (writes..<(writes + 100)).map { entry($0, rows) }
            var count = 0
            for entry in more {
                each.add(
                    time {
                        fold.apply(entry)
                        count += fold.rows?.count ?? 0
                    })
            }
            guard count > 0 else { throw BenchFault("nothing is shown") }
        }
        return [
            Figure("overlay, \(writes) pending over \(rows) rows", whole.p50, .milliseconds),
            Figure("overlay, one more write and its list", each.p50, .milliseconds),
        ]
    }

    /// Half updates, a quarter inserts, a quarter deletes.
    private static func entry(_ number: Int, _ rows: Int) -> QueuedMutation {
        let id = BenchRows.id(number * 7 % rows)
        let filters = [QueuedMutation.Filter(name: "id", value: "eq.\(id)")]
        let operation: QueuedMutation.Operation
        var key = RowKey(text: id)
        switch number % 4 {
        case 0:
            key = RowKey(text: BenchRows.id(rows + number))
            operation = .insert(row: RawJSON(unchecked: Array(BenchRows.row(rows + number).utf8)))
        case 1: operation = .delete(filters: filters)
        default:
            operation = .update(patch: RawJSON(unchecked: Array(#"{"title":"new \#(number)"}"#.utf8)), filters: filters)
        }
        return QueuedMutation(
            id: "\(number)", table: TableID(name: BenchRows.table), operation: operation, rowKeys: [key],
            createdAt: Date(timeIntervalSince1970: 0))
    }
}
