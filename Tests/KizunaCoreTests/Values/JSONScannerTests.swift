import KizunaCore
import Testing

@Suite struct JSONScannerTests {
    private func validated(_ text: String) throws -> String {
        try RawJSON(validating: Array(text.utf8)).text
    }

    @Test(arguments: [
        "null", "true", "false", "0", "-0", "7", "-12", "0.5", "10.25", "1e3", "1E+3", "1e-3", "1.5e10", "\"\"",
        "\"a\"", #""\"\\\/\b\f\n\r\t""#, #""\u0041\uD83D\uDE00""#, "[]", "[1]", "[1,2]", "{}", #"{"a":1}"#,
        #"{"a":{"b":[1,{"c":null}]}}"#, #"{"":0}"#, "\"\u{7F}\"", "\"grüße 🛩\"", #"{"a":1,"a":2}"#,
        "12345678901234567890123456789.000000000001",
    ])
    func wellFormedTextIsTaken(_ text: String) throws {
        #expect(try validated(text) == text)
    }

    @Test(arguments: [
        "nul", "tru", "True", "nullx", "01", "-01", "+1", ".5", "1.", "1.e3", "1e", "1e+", "-", "--1", "0x1", "1_000",
        "NaN", "Infinity", "'a'", "\"", "\"a", "\"\\\"", #""\x""#, #""\u12""#, #""\u12G4""#, "\"\n\"", "\"\t\"",
        "\"\u{0}\"", "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "]", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,}",
        "{a:1}", "{1:1}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "}", "[}", "{]", "1 2", "{} {}", "[] x", "", " ",
        "\u{FEFF}1",
        "<html>", "//c\n1", "/**/1",
    ])
    func malformedTextIsRejected(_ text: String) {
        #expect(throws: JSONFault.self) { try validated(text) }
    }

    @Test func whiteSpaceAroundAndWithinIsTaken() throws {
        #expect(try validated(" \t\r\n[ 1 ,\n2 ]\n ") == "[ 1 ,\n2 ]")
        #expect(throws: JSONFault.self) { try validated("\u{A0}1") }
        #expect(throws: JSONFault.self) { try validated("\u{0C}1") }
    }

    @Test(arguments: [
        ("", JSONFault.truncated), ("[1", .truncated), ("tru", .truncated), ("\"a", .truncated), ("1.", .truncated),
        ("[1}", .unexpected(offset: 2)), ("1 x", .unexpected(offset: 2)), ("\"\u{1}\"", .unexpected(offset: 1)),
        (#""\q""#, .unexpected(offset: 2)), ("truE", .unexpected(offset: 3)),
    ])
    func faultsSayWhatAndWhere(_ text: String, _ fault: JSONFault) {
        #expect(throws: fault) { try validated(text) }
    }

    @Test func aSampleCutAtAnyByteIsTruncated() throws {
        let sample = #"[{"id":"a-1","n":-12.5e+3,"ok":true,"no":false,"nil":null,"s":"\u00fc\n🛩","l":[{},[]]}]"#
        let bytes = Array(sample.utf8)
        #expect(try RawJSON(validating: bytes).bytes == bytes)
        for count in 0..<bytes.count {
            #expect(throws: JSONFault.truncated, "cut at \(count)") {
                try RawJSON(validating: Array(bytes[..<count]))
            }
        }
    }

    @Test func nestingEndsAtTheLimit() throws {
        func nested(_ depth: Int, _ open: String, _ close: String) -> String {
            String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
        }
        let limit = JSONScanner.depthLimit
        for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
            #expect(throws: Never.self) { try validated(nested(limit, open, close)) }
            #expect(throws: JSONFault.tooDeep) { try validated(nested(limit + 1, open, close)) }
            #expect(throws: JSONFault.tooDeep) { try validated(String(repeating: open, count: 100_000)) }
        }
    }

    @Test(arguments: [
        (#""a\"b\\c\/d""#, "a\"b\\c/d"), (#""\b\f\n\r\t""#, "\u{8}\u{C}\n\r\t"), (#""\u0041\u00e9""#, "Aé"),
        (#""\ud83d\ude00""#, "😀"), (#""\uD83D\uDE00!""#, "😀!"), (#""\ud83d""#, "\u{FFFD}"),
        (#""\ude00x""#, "\u{FFFD}x"), (#""\ud83dx""#, "\u{FFFD}x"), (#""\ud83d\u0041""#, "\u{FFFD}A"),
        (#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀"), (#""\u0000""#, "\u{0}"), (#""\udbff\udfff""#, "\u{10FFFF}"),
        (#""plain 🛩""#, "plain 🛩"),
    ])
    func stringsAreUnescaped(_ quoted: String, _ text: String) throws {
        let value = try RawJSON(validating: Array(quoted.utf8)).stringValue
        #expect(value.map { Array($0.utf8) } == Array(text.utf8))
    }

    @Test func bytesThatAreNoTextDoNotCrash() throws {
        let value = try RawJSON(validating: [0x22, 0xFF, 0xFE, 0xC3, 0x22])
        #expect(value.stringValue?.contains("\u{FFFD}") == true)
        #expect(value.bytes == [0x22, 0xFF, 0xFE, 0xC3, 0x22])
    }
}
