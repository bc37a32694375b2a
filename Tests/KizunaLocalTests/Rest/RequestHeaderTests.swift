import KizunaLocal
import Testing

@Suite struct RequestHeaderTests {
    @Test(
        arguments: [
            (nil, nil, nil, RowRange()),
            (3, nil, nil, RowRange(offset: 0, limit: 3)),
            (nil, -4, nil, RowRange()),
            (0, 7, nil, RowRange(offset: 0, limit: 0)),
            (3, 2, "0-2", RowRange(offset: 2, limit: 1)),
            (nil, nil, "5-", RowRange(offset: 5)),
            (nil, nil, "bytes=0-1", RowRange()),
            (nil, nil, "0-99999999999999999999", RowRange()),
            (Int.max, 5, nil, RowRange(offset: 5, limit: Int.max - 4)),
        ] as [(Int?, Int?, String?, RowRange)])
    func limitsAndTheRangeHeaderAreJoined(_ limit: Int?, _ offset: Int?, _ header: String?, _ range: RowRange) throws {
        #expect(try RowRange.parse(limit: limit, offset: offset, header: header, method: "GET") == range)
    }

    @Test func aRangeWithoutRowsIsRefused() {
        #expect(throws: RestFailure.self) {
            try RowRange.parse(limit: nil, offset: nil, header: "3-1", method: "GET")
        }
        #expect(throws: RestFailure.self) { try RowRange.parse(limit: -1, offset: nil, header: nil, method: "GET") }
        #expect(throws: Never.self) { try RowRange.parse(limit: nil, offset: nil, header: "3-1", method: "HEAD") }
    }

    @Test func ofEachPreferenceTheFirstCounts() {
        let preferences = Preferences(headers: [
            "return=minimal , count=exact", "return=representation,odd", "max-affected=3", "timezone=UTC",
        ])
        #expect(preferences.returning == .minimal)
        #expect(preferences.count == .exact)
        #expect(preferences.maxAffected == 3)
        #expect(preferences.unknown == ["odd"])
        #expect(preferences.applied?.value == "return=minimal, count=exact, timezone=UTC")
    }

    @Test func rollingBackNeedsTheServersLeave() {
        #expect(Preferences(headers: ["tx=rollback"]).transaction == nil)
        #expect(Preferences(headers: ["tx=rollback"], allowsTransactionOverride: true).transaction == .rollback)
    }

    @Test(
        arguments: [
            (nil, AnswerForm.array), ("*/*", .array), ("text/csv", .csv), ("text/odd, */*;q=0.1", .array),
            ("application/json;q=0.5, text/csv", .csv), ("application/vnd.pgrst.object+json", .object),
            ("application/vnd.pgrst.object+json; nulls=stripped", .objectWithoutNulls),
        ] as [(String?, AnswerForm)])
    func theMostWantedFormIsChosen(_ accept: String?, _ form: AnswerForm) throws {
        #expect(try AnswerForm.choose(accept) == form)
    }

    @Test func aFormNobodyHasIsRefused() {
        let failure = #expect(throws: RestFailure.self) { try AnswerForm.choose("image/png") }
        #expect(failure?.status == 406)
    }

    @Test func bodiesOfAllKindsBecomeOneArray() throws {
        func rows(_ body: String, _ type: String?, _ columns: [String]? = nil) throws -> RowPayload {
            try RowPayload.parse(Array(body.utf8), contentType: type, columns: columns)
        }
        #expect(try rows(#"{"a":1}"#, nil) == RowPayload(json: #"[{"a":1}]"#, columns: ["a"]))
        #expect(try rows(" [ ] ", "application/json; charset=utf-8") == RowPayload(json: "[]", columns: []))
        #expect(
            try rows("a,b\r\n1,\"x,\"\"y\"\n,NULL\n", "text/csv")
                == RowPayload(json: #"[{"a":"1","b":"x,\"y"},{"a":"","b":null}]"#, columns: ["a", "b"]))
        #expect(
            try rows("a=1+2&b=%C3%A4", "application/x-www-form-urlencoded")
                == RowPayload(json: #"[{"a":"1 2","b":"ä"}]"#, columns: ["a", "b"]))
        #expect(try rows(#"[{"a":1},{"b":2}]"#, nil, ["a"]).columns == ["a"])
        for wrong in ["", "}{", "[1]", #"[{"a":1},{"b":2}]"#, #"{"a":1}x"#, "[{\"a\":\"\u{01}\"}]"] {
            #expect(throws: RestFailure.self) { try rows(wrong, nil) }
        }
        #expect(throws: RestFailure.self) { try rows("a,b\n1\n", "text/csv") }
        #expect(throws: RestFailure.self) { try rows("x", "text/plain") }
    }
}
