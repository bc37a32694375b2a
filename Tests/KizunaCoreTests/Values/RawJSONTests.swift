import KizunaCore
import Testing

@Suite struct RawJSONTests {
    private func json(_ text: String) throws -> RawJSON {
        try RawJSON(validating: Array(text.utf8))
    }

    @Test(arguments: [
        "9007199254740993", "18446744073709551616", "1.10", "1.0e2", "-0", "0.1000000000000000055511151231",
    ])
    func numbersKeepTheirBytes(_ number: String) throws {
        let row = try json(#"{"id":\#(number),"b":1}"#)
        #expect(row.member("id")?.text == number)
        #expect(row.merging([.init(name: "b", value: try json("2"))]).text == #"{"id":\#(number),"b":2}"#)
        #expect(row.member("id")?.scalarText == number)
    }

    @Test func membersComeInTheirOrder() throws {
        let members = try json(#" { "b" : 1 , "a" : [ 1, 2 ] , "\u00fc" : "x" } "#).objectMembers()
        #expect(members.map(\.name) == ["b", "a", "ü"])
        #expect(members.map(\.value.text) == ["1", "[ 1, 2 ]", "\"x\""])
    }

    @Test func elementsComeInTheirOrder() throws {
        #expect(
            try json(#"[1, "a" ,{"b":[]},null]"#).arrayElements().map(\.text) == ["1", "\"a\"", #"{"b":[]}"#, "null"])
        #expect(try json("[ ]").arrayElements() == [])
        #expect(try json("{ }").objectMembers() == [])
    }

    @Test func askingTheWrongKindIsAFault() throws {
        #expect(throws: JSONFault.wrongKind) { try json("[]").objectMembers() }
        #expect(throws: JSONFault.wrongKind) { try json("{}").arrayElements() }
        #expect(try json("[]").member("a") == nil)
        #expect(try json("1").stringValue == nil)
    }

    @Test func theLastOfARepeatedNameCounts() throws {
        #expect(try json(#"{"a":1,"a":2}"#).member("a")?.text == "2")
        #expect(try json(#"{"a":1,"\u0061":2}"#).member("a")?.text == "2")
    }

    @Test func mergingKeepsPlacesAndAddsAtTheEnd() throws {
        let row = try json(#"{"a":1,"b":2,"c":3}"#)
        let patch = try json(#"{"d":4,"b":"x"}"#).objectMembers()
        #expect(row.merging(patch).text == #"{"a":1,"b":"x","c":3,"d":4}"#)
        #expect(row.merging([]) == row)
        #expect(try json("[1]").merging(patch).text == "[1]")
    }

    @Test func namesAreComparedByBytes() throws {
        let composed = "\u{E9}"
        let decomposed = "e\u{301}"
        let row = try json(#"{"\#(composed)":1,"\#(decomposed)":2}"#)
        #expect(row.member(composed)?.text == "1")
        #expect(row.member(decomposed)?.text == "2")
        let merged = row.merging([.init(name: composed, value: .null)])
        #expect(merged.member(composed) == .null)
        #expect(merged.member(decomposed)?.text == "2")
        #expect(row.rowKey(columns: [composed])?.text == "1")
    }

    @Test(arguments: ["", "a", "\"", "\\", "\n\t\u{0}\u{1F}", "grüße 🛩", "</script>", "\u{2028}", "\u{7F}"])
    func aStringSurvivesTheWayThere(_ text: String) throws {
        let value = RawJSON(string: text)
        #expect(try RawJSON(validating: value.bytes) == value)
        #expect(value.stringValue.map { Array($0.utf8) } == Array(text.utf8))
    }

    @Test func objectsAndArraysAreBuiltFromParts() throws {
        #expect(RawJSON(members: []).text == "{}")
        #expect(RawJSON(elements: []).text == "[]")
        let object = RawJSON(members: [
            .init(name: "a\"b", value: .null), .init(name: "c", value: RawJSON(string: "d")),
        ])
        #expect(object.text == #"{"a\"b":null,"c":"d"}"#)
        #expect(RawJSON(elements: [object, .null]).text == #"[{"a\"b":null,"c":"d"},null]"#)
    }

    @Test func kindsAreKnownByTheFirstByte() throws {
        let kinds: [(String, RawJSON.Kind)] = [
            ("null", .null), ("true", .boolean), ("false", .boolean), ("-1", .number), ("\"\"", .string),
            ("[]", .array), ("{}", .object),
        ]
        for (text, kind) in kinds { #expect(try json(text).kind == kind) }
        #expect(RawJSON.null.isNull)
    }

    @Test func theDescriptionHidesTheValue() throws {
        #expect("\(try json("\"secret\""))" == "RawJSON(8 bytes)")
    }
}
