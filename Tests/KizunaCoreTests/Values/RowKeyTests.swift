import KizunaCore
import Testing

@Suite struct RowKeyTests {
    @Test(arguments: [
        ("0190ABCD-0000-7000-8000-00000000000A", "0190abcd-0000-7000-8000-00000000000a"),
        ("0190ABCD-0000-7000-8000-00000000000G", "0190ABCD-0000-7000-8000-00000000000G"),
        ("0190ABCD00007000800000000000000A", "0190ABCD00007000800000000000000A"),
        ("{190ABCD-0000-7000-8000-00000000000}", "{190ABCD-0000-7000-8000-00000000000}"), ("ABC", "ABC"), ("", ""),
    ])
    func onlyAUUIDIsPutInLowerCase(_ text: String, _ key: String) {
        #expect(RowKey(components: [text]).text == key)
        #expect(RowKey(components: [text, "B"]).text == "[\"\(key)\",\"B\"]")
    }

    @Test func composedAndDecomposedTextsAreTwoKeys() {
        let composed = RowKey(components: ["\u{E9}"])
        let decomposed = RowKey(components: ["e\u{301}"])
        #expect(composed.text == decomposed.text)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect((composed < decomposed) != (decomposed < composed))
    }

    @Test func keysAreOrderedByBytes() {
        let keys = ["b", "a", "Z", "ä", "10", "9", ""].map { RowKey(components: [$0]) }
        #expect(keys.sorted().map(\.text) == ["", "10", "9", "Z", "a", "b", "ä"])
        #expect(!(keys[0] < keys[0]))
    }

    @Test func keyTextsTellTheirPartsApart() {
        let keys = [
            ["a", "b,c"], ["a,b", "c"], ["a\",\"b", "c"], ["[\"a\",\"b\"]", "c"], ["a", "", "b"], ["a", "b", ""],
        ]
        #expect(Set(keys.map { RowKey(components: $0) }).count == keys.count)
    }

    @Test(arguments: [
        (#"{"id":1}"#, "1"), (#"{"id":"1"}"#, "1"), (#"{"id":true}"#, "true"), (#"{"id":1.50}"#, "1.50"),
        (#"{"id":9007199254740993}"#, "9007199254740993"), (#"{"id":""}"#, ""),
    ])
    func aKeyIsTheValuesOwnText(_ row: String, _ key: String) throws {
        #expect(try RawJSON(validating: Array(row.utf8)).rowKey(columns: ["id"])?.text == key)
    }

    @Test(arguments: [#"{"id":null}"#, "{}", #"{"id":[]}"#, "[1]", "1", #"{"id":1,"id":null}"#])
    func aRowWithoutItsKeyHasNone(_ row: String) throws {
        #expect(try RawJSON(validating: Array(row.utf8)).rowKey(columns: ["id"]) == nil)
    }

    @Test func noColumnsMakeNoKey() throws {
        #expect(try RawJSON(validating: Array("{\"id\":1}".utf8)).rowKey(columns: []) == nil)
    }

    @Test func cutterAndRowAgree() throws {
        let rows = [#"{"id":1,"b":"x"}"#, #"{"\u0069d":"A","b":null}"#, #"{"b":1}"#, #"{"id":1,"id":2,"b":false}"#]
        for columns in [["id"], ["b", "id"]] {
            let cut = try JSONArraySplitter(keyColumns: columns).rows(
                of: Array("[\(rows.joined(separator: ","))]".utf8))
            let read = try rows.map { try RawJSON(validating: Array($0.utf8)).rowKey(columns: columns) }
            #expect(cut.map(\.key) == read)
        }
    }
}
