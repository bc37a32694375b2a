import Foundation
import KizunaCore
import KizunaPostgREST
import KizunaStore
import KizunaSync
import Testing

/// Mutations whose effect the device cannot compute make the overlay inexact.
@Suite struct InexactFoldTests {
    private static func fold(_ parameters: (String, String)...) -> OverlayFold {
        var request = TableRequest(schema: "public", table: "tasks")
        for (name, value) in parameters { request.append(name, value) }
        let shape = QueryShape(
            request: request, types: TableTypes(columns: ["id": .text, "title": .text, "done": .bool]),
            keyColumns: ["id"])
        let row = RawJSON(unchecked: Array(#"{"id":"a","title":"one","done":false}"#.utf8))
        return OverlayFold(shape: shape, base: [StoredRow(slot: 0, key: RowKey(text: "a"), json: row)])
    }

    private static func entry(_ operation: QueuedMutation.Operation, _ keys: [String] = []) -> QueuedMutation {
        QueuedMutation(
            id: "w", table: TableID(name: "tasks"), operation: operation, rowKeys: keys.map { RowKey(text: $0) },
            createdAt: Date(timeIntervalSince1970: 0))
    }

    private static func patch(_ text: String) -> RawJSON { RawJSON(unchecked: Array(text.utf8)) }
    private static let search = QueuedMutation.Filter(name: "title", value: "ilike.*x*")
    private static let pinned = QueuedMutation.Filter(name: "id", value: "eq.a")

    @Test func aFilterWithoutADefiniteResultMakesTheOverlayInexact() {
        let done = Self.patch(#"{"done":true}"#)
        let table: [(QueuedMutation, Bool)] = [
            (Self.entry(.update(patch: done, filters: [Self.search])), true),
            (Self.entry(.update(patch: done, filters: [Self.pinned, Self.search]), ["a"]), true),
            (Self.entry(.delete(filters: [Self.search])), true),
            (Self.entry(.update(patch: done, filters: [Self.pinned]), ["a"]), false),
            (Self.entry(.update(patch: done, filters: [.init(name: "done", value: "is.false")])), false),
            (Self.entry(.delete(filters: [.init(name: "done", value: "is.true")])), false),
        ]
        for (entry, isInexact) in table {
            var fold = Self.fold()
            fold.apply(entry)
            #expect(fold.isInexact == isInexact, "\(entry.operation)")
            fold.restart()
            #expect(!fold.isInexact)
        }
    }

    @Test func aRowThatMayNotMatchASearchAnyMoreIsShownAndTheOverlayIsInexact() {
        let rename = Self.entry(.update(patch: Self.patch(#"{"title":"two"}"#), filters: [Self.pinned]), ["a"])
        var searching = Self.fold(("title", "ilike.*x*"))
        searching.apply(rename)
        #expect(searching.rows?.count == 1)
        #expect(searching.isInexact)
        // A change of a column that the search does not read is exact.
        var closing = Self.fold(("title", "ilike.*x*"))
        closing.apply(Self.entry(.update(patch: Self.patch(#"{"done":true}"#), filters: [Self.pinned]), ["a"]))
        #expect(!closing.isInexact)
        // A row that was inserted offline is shown in every search; the other rows stay exact.
        var inserting = Self.fold(("title", "ilike.*x*"))
        inserting.apply(
            Self.entry(.insert(row: Self.patch(#"{"id":"b","title":"new","done":false}"#)), ["b"]))
        #expect(inserting.rows?.count == 2)
        #expect(!inserting.isInexact)
    }

    @Test(arguments: ["title", "number:id,title", "title,comments(*)"])
    func aQueryWithoutKeyColumnsIsInexactAfterAKeyedWrite(_ columns: String) {
        var request = TableRequest(schema: "public", table: "tasks")
        request.columns = columns
        let shape = QueryShape(request: request, types: TableTypes(), keyColumns: ["id"])
        var row = #"{"title":"one"}"#
        if columns.hasPrefix("number") { row = #"{"number":"a","title":"one"}"# }
        let stored = StoredRow(slot: 0, key: nil, json: Self.patch(row))
        for operation in [
            QueuedMutation.Operation.update(patch: Self.patch(#"{"title":"two"}"#), filters: [Self.pinned]),
            .delete(filters: [Self.pinned]),
        ] {
            var fold = OverlayFold(shape: shape, base: [stored])
            fold.apply(Self.entry(operation, ["a"]))
            #expect(fold.isInexact)
        }
        let edit = DeliveryEffect(.deleted([RowKey(text: "a")])).edit(of: shape, present: [:])
        #expect(edit.becomesStale)
    }
}
