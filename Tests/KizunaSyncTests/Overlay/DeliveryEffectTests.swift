import KizunaCore
import KizunaPostgREST
import KizunaStore
import KizunaSync
import Testing

/// The effect of an accepted mutation on a cached query, case by case (docs/spec/writes.md, Effect of an accepted mutation).
@Suite struct DeliveryEffectTests {
    private func shape(_ parameters: (String, String)..., columns: String? = nil) -> QueryShape {
        var request = TableRequest(schema: "public", table: "notes")
        if let columns { request.columns = columns }
        for (name, value) in parameters { request.append(name, value) }
        return QueryShape(
            request: request, types: TableTypes(columns: ["done": .bool, "rank": .int4]), keyColumns: ["id"])
    }

    private func json(_ text: String) throws -> RawJSON { try RawJSON(validating: Array(text.utf8)) }

    /// Returns the edit of a query that contains the row `a`, as text.
    private func edit(_ shape: QueryShape, _ rows: DeliveryEffect.Rows, present: String?) throws -> String {
        let key = RowKey(text: "a")
        let edit = DeliveryEffect(rows).edit(of: shape, present: try present.map { [key: try json($0)] } ?? [:])
        var words: [String] = []
        if !edit.replaced.isEmpty { words.append("replace \(edit.replaced.map(\.json.text).joined())") }
        if !edit.removed.isEmpty { words.append("remove") }
        if !edit.appended.isEmpty { words.append("append \(edit.appended.map(\.json.text).joined())") }
        if edit.becomesStale { words.append("stale") }
        return words.joined(separator: ", ")
    }

    @Test func aDeleteIsExactUnlessTheQueryHasALimit() throws {
        let gone = DeliveryEffect.Rows.deleted([RowKey(text: "a")])
        #expect(try edit(shape(), gone, present: #"{"id":"a"}"#) == "remove")
        #expect(try edit(shape(), gone, present: nil) == "")
        #expect(try edit(shape(("limit", "5")), gone, present: #"{"id":"a"}"#) == "remove, stale")
        #expect(try edit(shape(("limit", "5")), gone, present: nil) == "")
        #expect(try edit(shape(("limit", "5"), ("offset", "5")), gone, present: nil) == "stale")
    }

    @Test func anUpdateIsExactWhenItChangesNoFilterOrOrderColumn() throws {
        let row = try json(#"{"id":"a","title":"new","done":false,"rank":1}"#)
        let before = #"{"id":"a","title":"old","done":false,"rank":1}"#
        let written = DeliveryEffect.Rows.written([RowKey(text: "a"): row])
        #expect(try edit(shape(), written, present: before) == "replace \(row.text)")
        #expect(try edit(shape(("done", "eq.false")), written, present: before) == "replace \(row.text)")
        #expect(try edit(shape(("order", "rank.asc")), written, present: before) == "replace \(row.text)")
        #expect(try edit(shape(("order", "title.asc")), written, present: before) == "replace \(row.text), stale")
    }

    @Test func anUpdateRemovesOrAppendsARowByTheFilter() throws {
        let row = try json(#"{"id":"a","done":true}"#)
        let written = DeliveryEffect.Rows.written([RowKey(text: "a"): row])
        let open = shape(("done", "eq.false"))
        #expect(try edit(open, written, present: #"{"id":"a","done":false}"#) == "remove")
        #expect(
            try edit(shape(("done", "eq.false"), ("limit", "3")), written, present: #"{"id":"a","done":false}"#)
                == "remove, stale")
        #expect(try edit(open, written, present: nil) == "")
        #expect(try edit(shape(("done", "eq.true")), written, present: nil) == "append \(row.text)")
        #expect(try edit(shape(("done", "eq.true"), ("order", "id.asc")), written, present: nil).hasSuffix("stale"))
        #expect(try edit(shape(("title", "ilike.*x*")), written, present: nil).hasSuffix("stale"))
    }

    @Test func aChangedKeyRemovesTheOldRowAppendsTheNewOneAndMakesTheQueryStale() throws {
        let moved = DeliveryEffect(
            .written([RowKey(text: "b"): try json(#"{"id":"b","done":false}"#)]), previous: [RowKey(text: "a")])
        #expect(Set(moved.keys) == [RowKey(text: "a"), RowKey(text: "b")])
        let shown = moved.edit(of: shape(), present: [RowKey(text: "a"): try json(#"{"id":"a","done":false}"#)])
        #expect(shown.removed == [RowKey(text: "a")])
        #expect(shown.appended.map(\.key.text) == ["b"])
        #expect(shown.becomesStale)
        let rowsInOtherLists = moved.edit(of: shape(("done", "eq.true")), present: [:])
        #expect(rowsInOtherLists.isEmpty)
    }

    @Test func aQueryWithoutKeyColumnsBecomesStale() throws {
        let row = try json(#"{"id":"a","title":"new"}"#)
        let key = RowKey(text: "a")
        let titles = shape(columns: "title")
        #expect(try edit(titles, .deleted([key]), present: nil) == "stale")
        #expect(try edit(titles, .written([key: row]), present: nil) == "stale")
    }

    @Test func aResponseWithoutRowsMakesEveryQueryStale() throws {
        #expect(try edit(shape(), .unknown, present: nil) == "stale")
    }

    @Test func aQueryWithAnEmbeddedTableBecomesStale() throws {
        let row = try json(#"{"id":"a","title":"new"}"#)
        let written = DeliveryEffect.Rows.written([RowKey(text: "a"): row])
        #expect(try edit(shape(columns: "*,lists(*)"), written, present: #"{"id":"a"}"#) == "stale")
        #expect(try edit(shape(columns: "*,lists(*)"), written, present: nil) == "stale")
    }

    /// Returns the edit of a query whose rows have these keys and no other column, as text.
    private func edit(_ effect: DeliveryEffect, present: String...) throws -> String {
        let rows = try present.map { (RowKey(text: $0), try json(#"{"id":"\#($0)"}"#)) }
        let edit = effect.edit(of: shape(), present: Dictionary(uniqueKeysWithValues: rows))
        return (edit.removed.map { "remove \($0)" } + (edit.becomesStale ? ["stale"] : [])).joined(separator: ", ")
    }

    @Test func aQueryWithARowThatADeleteDidNotFindBecomesStale() throws {
        let effect = DeliveryEffect(.deleted([RowKey(text: "a")]), notFound: [RowKey(text: "b")])
        #expect(effect.keys.map(\.text) == ["a", "b"])
        #expect(try edit(effect, present: "a", "b") == "remove a, stale")
        #expect(try edit(effect, present: "a") == "remove a")
    }

    @Test func aQueryWithoutTheRowOfAnIgnoredUpsertBecomesStale() throws {
        let effect = DeliveryEffect(.written([:]), ignored: [RowKey(text: "a")])
        #expect(try edit(effect, present: "a") == "")
        #expect(try edit(effect) == "stale")
    }

    @Test func aColumnMissingInTheResponseKeepsItsValueAndMakesTheQueryStale() throws {
        let row = try json(#"{"id":"a","title":"new"}"#)
        let written = DeliveryEffect.Rows.written([RowKey(text: "a"): row])
        let before = #"{"id":"a","title":"old","shout":"OLD"}"#
        let after = #"{"id":"a","title":"new","shout":"OLD"}"#
        for columns in ["id,title,shout", "*,shout"] {
            #expect(try edit(shape(columns: columns), written, present: before) == "replace \(after), stale")
            #expect(try edit(shape(columns: columns), written, present: nil) == "stale")
        }
        #expect(try edit(shape(columns: "*,title"), written, present: before) == "replace \(row.text)")
    }
}
