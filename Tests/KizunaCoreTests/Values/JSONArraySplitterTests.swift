import KizunaCore
import Testing

@Suite struct JSONArraySplitterTests {
    private func cut(_ text: String, _ columns: [String] = ["id"]) throws -> [String] {
        let bytes = Array(text.utf8)
        return try JSONArraySplitter(keyColumns: columns).rows(of: bytes).map { row in
            "\(row.key?.text ?? "-") \(String(decoding: bytes[row.range], as: UTF8.self))"
        }
    }

    @Test func rowsAreCutByteForByte() throws {
        let text = #" [ {"id":1, "a":[{"id":9}]} ,{"n":{"id":8},"id":9007199254740993},{"id":"x"} ] "# + "\n"
        #expect(
            try cut(text) == [
                #"1 {"id":1, "a":[{"id":9}]}"#, #"9007199254740993 {"n":{"id":8},"id":9007199254740993}"#,
                #"x {"id":"x"}"#,
            ])
    }

    @Test func anEmptyResponseHasNoRows() throws {
        #expect(try cut("[]") == [])
        #expect(try cut(" [ \n ] ") == [])
        #expect(try cut("[{}]") == ["- {}"])
    }

    @Test(arguments: [
        #"{"a":1}"#, #"{"id":null}"#, #"{"id":[1]}"#, #"{"id":{}}"#, #"{"ID":1}"#, #"{"i":1,"d":2}"#,
        #"{"id":1,"id":null}"#,
    ])
    func aRowWithoutItsKeyIsGivenWithoutOne(_ row: String) throws {
        #expect(try cut("[\(row)]") == ["- \(row)"])
    }

    @Test func aCompositeKeyFollowsThePrimaryKeysOrder() throws {
        let text = #"[{"b":"x","a":1},{"a":2},{"a":"1","b":"x"}]"#
        #expect(
            try cut(text, ["a", "b"]) == [
                #"["1","x"] {"b":"x","a":1}"#, #"- {"a":2}"#, #"["1","x"] {"a":"1","b":"x"}"#,
            ])
        #expect(try cut(#"[{"b":"x","a":1}]"#, ["b", "a"]) == [#"["x","1"] {"b":"x","a":1}"#])
    }

    @Test func partsOfACompositeKeyDoNotRunTogether() throws {
        let rows = try JSONArraySplitter(keyColumns: ["a", "b"]).rows(
            of: Array(#"[{"a":"x,y","b":"z"},{"a":"x","b":"y,z"},{"a":"x\",\"y","b":"z"}]"#.utf8))
        #expect(Set(rows.map(\.key)).count == 3)
    }

    @Test(arguments: [
        (#"[{"\u0069d":5}]"#, "id"), (#"[{"\u0069\u0064":5}]"#, "id"), (#"[{"a\"b":5}]"#, "a\"b"),
        (#"[{"a\u0022b":5}]"#, "a\"b"), (#"[{"a\/b":5}]"#, "a/b"), (#"[{"\u00fc":5}]"#, "ü"),
        (#"[{"\ud83d\udee9":5}]"#, "🛩"), (#"[{"a\nb":5}]"#, "a\nb"), (#"[{"a\u000ab":5}]"#, "a\nb"),
    ])
    func aNameMatchesHoweverItIsEscaped(_ text: String, _ column: String) throws {
        #expect(try JSONArraySplitter(keyColumns: [column]).rows(of: Array(text.utf8)).map(\.key?.text) == ["5"])
    }

    @Test func anEscapedValueGivesTheSameKey() throws {
        #expect(try cut(#"[{"id":"\u0061b"}]"#) == [#"ab {"id":"\u0061b"}"#])
    }

    @Test func aUUIDKeyIsLowerCase() throws {
        let rows = try JSONArraySplitter(keyColumns: ["id"]).rows(
            of: Array(#"[{"id":"0190ABCD-0000-7000-8000-00000000000A"}]"#.utf8))
        #expect(rows.first?.key?.text == "0190abcd-0000-7000-8000-00000000000a")
    }

    @Test(arguments: ["{}", "null", "1", "\"a\"", "[1]", "[[]]", "[null]", #"[{"id":1},2]"#])
    func anAnswerThatIsNoListOfObjectsIsTheWrongKind(_ text: String) {
        #expect(throws: JSONFault.wrongKind) { try cut(text) }
    }

    @Test(arguments: [
        "[{}] x", "[{}][]", "[{},]", "[,{}]", "[{} {}]", #"[{"id":1,}]"#, #"[{"id" 1}]"#, #"[{id:1}]"#, "[}", "",
        #"[{"id":01}]"#,
    ])
    func malformedResponsesAreRejected(_ text: String) {
        #expect(throws: JSONFault.self) { try cut(text) }
    }

    /// A decoder takes no row of such an answer, so it must not take the place of one that decodes.
    @Test(
        arguments: [[0xE9], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80]] as [[UInt8]])
    func bytesThatAreNoTextAreRejected(_ bytes: [UInt8]) throws {
        let start = Array(#"[{"id":"é","t":"plain"},{"id":"b","t":"longer than a word, "#.utf8)
        #expect(throws: JSONFault.notText) {
            try JSONArraySplitter(keyColumns: ["id"]).rows(of: start + bytes + Array(#""}]"#.utf8))
        }
        #expect(
            try JSONArraySplitter(keyColumns: ["id"]).rows(of: start + Array("é€😀".utf8) + Array(#""}]"#.utf8)).count
                == 2)
    }

    @Test func anResponseCutAtAnyByteIsTruncated() {
        let bytes = Array(#"[{"id":"a","n":{"x":[1,2]}},{"id":"b"}]"#.utf8)
        for count in 0..<bytes.count {
            #expect(throws: JSONFault.truncated, "cut at \(count)") {
                try JSONArraySplitter(keyColumns: ["id"]).rows(of: Array(bytes[..<count]))
            }
        }
    }

    @Test func aRowMayNestAsDeepAsAnyValue() throws {
        let depth = JSONScanner.depthLimit - 2
        let deep = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        #expect(try cut(#"[{"id":1,"a":\#(deep)}]"#).count == 1)
        let tooDeep = String(repeating: "[", count: 100_000)
        #expect(throws: JSONFault.tooDeep) { try cut(#"[{"id":1,"a":\#(tooDeep)"#) }
    }

    @Test func withoutKeyColumnsNoRowHasAKey() throws {
        #expect(try cut(#"[{"id":1}]"#, []) == [#"- {"id":1}"#])
    }
}
