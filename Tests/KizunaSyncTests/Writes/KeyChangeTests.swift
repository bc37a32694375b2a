import Foundation
import KizunaCore
import KizunaPostgREST
import KizunaStore
import KizunaSync
import Testing

/// Mutations that give a row another primary key.
@Suite struct KeyChangeTests {
    private static let table = TableID(name: "tasks")

    private static func entry(
        _ operation: QueuedMutation.Operation, keys: [String], id: String = "w"
    ) -> QueuedMutation {
        QueuedMutation(
            id: id, table: table, operation: operation, rowKeys: keys.map { RowKey(text: $0) },
            createdAt: Date(timeIntervalSince1970: 0))
    }

    private static func json(_ text: String) -> RawJSON { RawJSON(unchecked: Array(text.utf8)) }

    private static func update(_ key: String, _ patch: String, id: String = "w") -> QueuedMutation {
        entry(
            .update(patch: json(patch), filters: [.init(name: "id", value: "eq.\(key)")]), keys: [key], id: id)
    }

    @Test func theKeyChangeOfEachOperation() {
        func change(_ operation: QueuedMutation.Operation, _ keys: [String], of columns: [String] = ["id"]) -> String {
            switch Self.entry(operation, keys: keys).keyChange(keyColumns: columns) {
            case .none: "none"
            case .unknown: "unknown"
            case .moves(let moves):
                moves.map { "\($0.key.text)>\($0.value.text)" }.sorted().joined(separator: " ")
            }
        }
        func patched(_ patch: String, _ keys: [String], of columns: [String] = ["id"]) -> String {
            change(.update(patch: Self.json(patch), filters: []), keys, of: columns)
        }
        let pair = ["list", "place"]
        #expect(patched(#"{"title":"x"}"#, ["a"]) == "none")
        #expect(patched(#"{"id":"a","title":"x"}"#, ["a"]) == "none")
        #expect(patched(#"{"id":5}"#, ["5"]) == "none")
        #expect(patched(#"{"id":"b"}"#, ["a"]) == "a>b")
        #expect(
            patched(#"{"id":"0190AAAA-0000-7000-8000-000000000009"}"#, ["0190aaaa-0000-7000-8000-000000000009"])
                == "none")
        #expect(patched(#"{"id":null}"#, ["a"]) == "unknown")
        #expect(patched(#"{"id":"b"}"#, []) == "unknown")
        #expect(patched(#"{"id":"c"}"#, ["a", "b"]) == "unknown")
        #expect(patched(#"{"list":"y"}"#, [#"["x","1"]"#], of: pair) == #"["x","1"]>["y","1"]"#)
        #expect(
            patched(#"{"list":"y"}"#, [#"["x","1"]"#, #"["x","2"]"#], of: pair)
                == #"["x","1"]>["y","1"] ["x","2"]>["y","2"]"#)
        #expect(patched(#"{"list":"x"}"#, [#"["x","1"]"#], of: pair) == "none")
        let row = Self.json(#"{"id":"a","slug":"s"}"#)
        #expect(change(.insert(row: row), ["a"]) == "none")
        #expect(change(.delete(filters: []), ["a"]) == "none")
        #expect(change(.upsert(row: row, onConflict: [], ignoresDuplicates: false), ["a"]) == "none")
        #expect(change(.upsert(row: row, onConflict: ["id"], ignoresDuplicates: false), ["a"]) == "none")
        // The row with this slug gets the key of the upsert.
        #expect(change(.upsert(row: row, onConflict: ["slug"], ignoresDuplicates: false), ["a"]) == "unknown")
        #expect(change(.upsert(row: row, onConflict: ["slug"], ignoresDuplicates: true), ["a"]) == "none")
        #expect(change(.upsert(row: row, onConflict: ["slug"], ignoresDuplicates: false), []) == "none")
    }

    /// Mutations of the new key are also parked with it.
    @Test func laterMutationsOfEitherKeyAreSentAfterIt() {
        let move = Self.update("a", #"{"id":"b"}"#, id: "move")
        let later = ["a", "b", "c"].map { Self.update($0, #"{"title":"x"}"#, id: $0) }
        var rig = QueueRig()
        #expect(rig.handle(.queued(([move] + later).map { QueueItem($0) })) == "send move, send c")
        let rejected = WriteOutcome.rejected(serverFault(409, "23505"))
        #expect(rig.handle(.answered(flight: 1, rejected, jitter: 0)) == "refuse move<b")
        #expect(rig.handle(.committed(flight: 1)) == "send a")
    }

    @Test func aMutationWithUnknownKeysIsNotOvertakenInItsTable() {
        let move = Self.entry(.update(patch: Self.json(#"{"id":"b"}"#), filters: []), keys: [], id: "move")
        var rig = QueueRig()
        let later = Self.update("c", #"{"title":"x"}"#, id: "c")
        #expect(rig.handle(.queued([QueueItem(move), QueueItem(later)])) == "send move")
        let upsert = Self.entry(
            .upsert(row: Self.json(#"{"id":"a","slug":"s"}"#), onConflict: ["slug"], ignoresDuplicates: false),
            keys: ["a"], id: "upsert")
        rig = QueueRig()
        #expect(rig.handle(.queued([QueueItem(upsert), QueueItem(later)])) == "send upsert")
    }

    /// Upserts with other conflict columns touch the whole table and still share a request.
    @Test func upsertsByOtherColumnsShareARequest() {
        let upserts = ["a", "b"].map { key in
            Self.entry(
                .upsert(
                    row: Self.json(#"{"id":"\#(key)","slug":"\#(key)"}"#), onConflict: ["slug"],
                    ignoresDuplicates: false),
                keys: [key], id: key)
        }
        var rig = QueueRig()
        let later = Self.update("c", #"{"title":"x"}"#, id: "c")
        #expect(rig.handle(.queued((upserts + [later]).map { QueueItem($0) })) == "send a+b")
    }

    // MARK: - The overlay

    private static func shown(
        _ base: [String], _ entries: [QueuedMutation], heldByOther: [RowKey: RawJSON] = [:], done: Bool? = nil
    ) -> (rows: String, isInexact: Bool) {
        var request = TableRequest(schema: "public", table: "tasks")
        if let done { request.append("done", "eq.\(done)") }
        let shape = QueryShape(
            request: request, types: TableTypes(columns: ["id": .text, "done": .bool]), keyColumns: ["id"])
        let rows = base.enumerated().map { index, key in
            StoredRow(slot: Int64(index), key: RowKey(text: key), json: json(#"{"id":"\#(key)","done":false}"#))
        }
        var fold = OverlayFold(shape: shape, base: rows, rowsInOtherLists: heldByOther)
        for entry in entries { fold.apply(entry) }
        let texts = (fold.rows ?? []).map { row in
            "\(row.key?.text ?? "-")=\(row.json.member("id")?.stringValue ?? "-")\(row.isPending ? "*" : "")"
        }
        return (texts.joined(separator: " "), fold.isInexact)
    }

    @Test func theOverlayShowsTheRowUnderItsNewKey() {
        let move = Self.update("a", #"{"id":"z"}"#)
        #expect(Self.shown(["a", "b"], [move]) == ("z=z* b=b", false))
        // Later mutations find it under its new key only.
        let close = Self.update("z", #"{"done":true}"#)
        #expect(Self.shown(["a", "b"], [move, close], done: false) == ("b=b", false))
        let closeOld = Self.update("a", #"{"done":true}"#)
        #expect(Self.shown(["a", "b"], [move, closeOld], done: false) == ("z=z* b=b", false))
        let insert = Self.entry(.insert(row: Self.json(#"{"id":"a","done":false}"#)), keys: ["a"])
        #expect(Self.shown(["a", "b"], [move, insert]) == ("z=z* b=b a=a*", false))
        let back = Self.update("z", #"{"id":"a"}"#)
        #expect(Self.shown(["a", "b"], [move, back]) == ("a=a* b=b", false))
        // A pending insert gets the new key too.
        let made = Self.entry(.insert(row: Self.json(#"{"id":"c","done":false}"#)), keys: ["c"])
        #expect(Self.shown(["b"], [made, Self.update("c", #"{"id":"d"}"#)]) == ("b=b d=d*", false))
    }

    @Test func aRowOfAnotherListIsAddedUnderItsNewKey() {
        let known = [RowKey(text: "x"): Self.json(#"{"id":"x","done":true}"#)]
        let open = Self.update("x", #"{"id":"y","done":false}"#)
        #expect(Self.shown(["a"], [open], heldByOther: known, done: false) == ("a=a y=y*", false))
    }

    @Test func theOverlayIsInexactWhenTheNewKeyIsInUse() {
        #expect(Self.shown(["a", "b"], [Self.update("a", #"{"id":"b"}"#)]) == ("a=a b=b", true))
        let known = [RowKey(text: "x"): Self.json(#"{"id":"x","done":true}"#)]
        #expect(Self.shown(["a"], [Self.update("a", #"{"id":"x"}"#)], heldByOther: known) == ("a=a", true))
        // The key is free when its row was deleted before.
        let delete = Self.entry(.delete(filters: [.init(name: "id", value: "eq.b")]), keys: ["b"])
        #expect(Self.shown(["a", "b"], [delete, Self.update("a", #"{"id":"b"}"#)]) == ("b=b*", false))
    }
}
