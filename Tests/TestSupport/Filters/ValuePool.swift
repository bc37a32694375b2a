/// Values and operands of one type, chosen to sit on the edges of its rules.
package struct ValuePool: Sendable {
    struct Path: Sendable {
        let wire: String
        let sql: String
        var isText = false
        var toJSON = false
    }

    package let sqlType: String
    /// SQL expression and JSON of each value.
    package let values: [(String, String)]
    package let operands: [String]
    var operators: [String] = scalarOperators
    var paths: [Path] = []

    static let scalarOperators = ["eq", "neq", "gt", "gte", "lt", "lte", "in", "is", "isdistinct"]
    static let arrayOperators = ["eq", "neq", "gt", "lt", "cs", "cd", "ov", "is", "isdistinct"]
    static let textOperators = scalarOperators + ["like", "ilike", "match", "imatch"]

    static let patterns = [
        "a%", "%a%", "*a*", "A%", "_", "a_c", "", "%", "100\\%", "%\\\\%", "a\\", "é%", "É%", "%\n%", "ab", "AB%",
        "_%_",
        "😀", "i%", "%SS%", "a*c", "a\\*c",
    ]
    static let expressions = ["^a", "b$", "a", "A", "^abc$", "a.c", "é", "", "zz", "^", "100%", " "]
    static let texts = [
        "", "a", "A", "abc", "ABC", "a b", " a", "a ", "é", "e\u{301}", "É", "😀", "10", "9", "100%", "a,b",
        "say \"hi\"",
        "back\\slash", "(x)", "NULL", "null", "true", "i", "ß", "SS", "line\nbreak", "a*c", "one", "1.50", "1.5", "two",
    ]
    static let jsons = [
        "1", "1.0", "1.50", "\"a\"", "\"abc\"", "null", "true", "false", "{}", "[]", "[1,2]", "[2,1,1]", "{\"b\":1}",
        "{\"a\":{\"x\":1},\"b\":1}", "{\"a\":{}}", "abc", "", "\"\\u00e9\"", "\"é\"", " 1 ", "1e0", "[1]", "[[1]]",
        "\"one\"",
        "{\"a\":1,\"a\":2}", "[\"a\"]", "-0", "01", "100", "[{\"a\":1}]",
    ]

    package static let all: [ValuePool] = [
        number("int2", ["0", "1", "-1", "32767", "-32768", "5"]),
        number("int4", ["0", "1", "-1", "2147483647", "-2147483648", "5", "16777217"]),
        number("int8", ["0", "1", "9007199254740993", "9007199254740992", "-9223372036854775808", "5"]),
        ValuePool(
            sqlType: "numeric",
            values: [
                ("0", "0"), ("1.50", "1.50"), ("1.5", "1.5"), ("-2.25", "-2.25"), ("'NaN'", "\"NaN\""),
                ("'Infinity'", "\"Infinity\""), ("'-Infinity'", "\"-Infinity\""),
                ("123456789012345678901234567890.123", "123456789012345678901234567890.123"), ("0.1", "0.1"),
                ("5", "5"),
                ("0.00", "0.00"), ("100", "100"),
            ], operands: numbers),
        ValuePool(
            sqlType: "float8",
            values: [
                ("0", "0"), ("'-0'", "-0"), ("0.1", "0.1"), ("1e20", "1e+20"), ("1e-7", "1e-07"), ("'NaN'", "\"NaN\""),
                ("'Infinity'", "\"Infinity\""), ("1.5", "1.5"), ("5", "5"),
                ("9007199254740992", "9.007199254740992e+15"),
            ], operands: numbers),
        ValuePool(
            sqlType: "float4",
            values: [
                ("0", "0"), ("0.1", "0.1"), ("16777216", "1.6777216e+07"), ("'NaN'", "\"NaN\""), ("1.5", "1.5"),
                ("5", "5"),
                ("'-Infinity'", "\"-Infinity\""), ("123456", "123456"),
            ], operands: numbers),
        ValuePool(
            sqlType: "bool", values: [("true", "true"), ("false", "false")],
            operands: [
                "true", "false", "t", "f", "TRUE", "yes", "no", "on", "off", "1", "0", " true ", "of", "o", "2", "",
                "null",
                "fals", "y",
            ]),
        text("text"), text("varchar(20)"),
        ValuePool(
            sqlType: "char(5)", values: [("'ab'", "\"ab   \""), ("''", "\"     \""), ("'abcde'", "\"abcde\"")],
            operands: ["ab", "ab ", "ab   ", "abcde", "", " ", "AB", "abcdef"]),
        ValuePool(
            sqlType: "uuid",
            values: [
                ("'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "\"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\""),
                ("'00000000-0000-0000-0000-000000000000'", "\"00000000-0000-0000-0000-000000000000\""),
                ("'ffffffff-ffff-ffff-ffff-ffffffffffff'", "\"ffffffff-ffff-ffff-ffff-ffffffffffff\""),
            ],
            operands: [
                "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
                "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}", "a0eebc999c0b4ef8bb6d6bb9bd380a11",
                "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1", "abc", "",
                "00000000-0000-0000-0000-000000000000", " a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
                "{00000000-0000-0000-0000-000000000000", "80000000-0000-0000-0000-000000000000",
            ]),
        ValuePool(
            sqlType: "date",
            values: [
                ("'2024-02-29'", "\"2024-02-29\""), ("'0001-01-01'", "\"0001-01-01\""), ("'infinity'", "\"infinity\""),
                ("'-infinity'", "\"-infinity\""), ("'12024-01-01'", "\"12024-01-01\""),
                ("'0044-03-15 BC'", "\"0044-03-15 BC\""), ("'1970-01-01'", "\"1970-01-01\""),
            ], operands: times),
        ValuePool(
            sqlType: "timestamp",
            values: [
                ("'2024-02-29 12:00:00'", "\"2024-02-29T12:00:00\""), ("'infinity'", "\"infinity\""),
                ("'2024-02-29 12:00:00.12'", "\"2024-02-29T12:00:00.12\""),
                ("'1969-12-31 23:59:59.999999'", "\"1969-12-31T23:59:59.999999\""),
                ("'2024-02-29 00:00:00'", "\"2024-02-29T00:00:00\""),
                ("'0044-03-15 12:00:00 BC'", "\"0044-03-15T12:00:00 BC\""),
            ], operands: times),
        ValuePool(
            sqlType: "timestamptz",
            values: [
                ("'2024-02-29 12:00:00+00'", "\"2024-02-29T12:00:00+00:00\""), ("'-infinity'", "\"-infinity\""),
                ("'2024-02-29 12:00:00.123456+00'", "\"2024-02-29T12:00:00.123456+00:00\""),
                ("'2024-02-29 00:00:00+00'", "\"2024-02-29T00:00:00+00:00\""),
                ("'1900-01-01 00:00:00+00'", "\"1900-01-01T00:00:00+00:00\""),
            ], operands: times),
        ValuePool(
            sqlType: "time",
            values: [
                ("'12:00'", "\"12:00:00\""), ("'24:00:00'", "\"24:00:00\""), ("'00:00:00.5'", "\"00:00:00.5\""),
                ("'23:59:59.999999'", "\"23:59:59.999999\""),
            ],
            operands: [
                "12:00", "12:00:00", "24:00:00", "24:00:01", "25:00:00", "00:00:00.500", "00:00:00.5000004", "12:60",
                "23:59:60", "noon", "12:00:00+02", "23:59:59.9999999", "",
            ]),
        ValuePool(
            sqlType: "bytea",
            values: [("'\\xdeadbeef'", "\"\\\\xdeadbeef\""), ("'\\x'", "\"\\\\x\""), ("'\\x00ff'", "\"\\\\x00ff\"")],
            operands: ["\\xdeadbeef", "\\xDEADBEEF", "\\x", "\\x00", "abc", "\\xabc", "\\xzz", ""]),
        ValuePool(
            sqlType: "mood", values: [("'sad'", "\"sad\""), ("'ok'", "\"ok\""), ("'happy'", "\"happy\"")],
            operands: ["sad", "ok", "happy", "angry", "", "SAD"]),
        ValuePool(
            sqlType: "int4[]",
            values: [
                ("'{}'", "[]"), ("'{1,2,3}'", "[1,2,3]"), ("'{2}'", "[2]"), ("'{1,NULL}'", "[1,null]"),
                ("'{2,2,1}'", "[2,2,1]"),
                ("'{{1,2},{3,4}}'", "[[1,2],[3,4]]"), ("'{NULL}'", "[null]"),
            ],
            operands: [
                "{}", "{1,2}", "{1, 2 ,3}", "{NULL}", "{1,null}", "{2}", "{{1,2},{3,4}}", "{1,}", "{a}", "1", "{ }",
                "{3,2,1}",
                "[1:2]={1,2}", "{\"1\",\"2\"}", "{5}", "",
            ], operators: arrayOperators,
            paths: [
                Path(wire: "->0", sql: "->0", toJSON: true),
                Path(wire: "->>-1", sql: "->>-1", isText: true, toJSON: true),
                Path(wire: "->x", sql: "->'x'", toJSON: true),
            ]),
        ValuePool(
            sqlType: "text[]",
            values: [
                ("'{}'", "[]"), ("'{a,b}'", "[\"a\",\"b\"]"), ("'{\"a b\",\"\"}'", "[\"a b\",\"\"]"),
                ("'{NULL,\"NULL\"}'", "[null,\"NULL\"]"), ("'{b,a,a}'", "[\"b\",\"a\",\"a\"]"),
            ],
            operands: [
                "{}", "{a}", "{a,b}", "{\"a b\"}", "{a b}", "{NULL}", "{\"NULL\"}", "{null}", "{\\NULL}", "{ a , b }",
                "{\"\"}", "{a,b,b,c}", "{a\\,b}", "{a", "a}", "{a}x", "{\"a\"b}",
            ], operators: arrayOperators),
        ValuePool(
            sqlType: "jsonb", values: documents, operands: jsons,
            operators: ["eq", "neq", "gt", "lt", "in", "is", "isdistinct", "cs", "cd"], paths: documentPaths),
        ValuePool(
            sqlType: "json", values: documents, operands: jsons, operators: ["is", "eq"], paths: documentPaths),
        ValuePool(
            sqlType: "int4range", values: [("'[1,5)'", "\"[1,5)\""), ("'empty'", "\"empty\"")],
            operands: ["[1,5)", "[1,4]", "empty", "(,)", "x", "[1,5"], operators: ["eq", "neq", "cs", "cd", "ov", "is"]),
    ]

    private static let numbers = [
        "0", "-0", "1", "1.5", "1.50", " 5 ", "+5", "05", "5.0", "5.", ".5", "0.1", "0.10", "1e20", "1E-7", "NaN",
        "nan",
        "Infinity", "-inf", "inf", "9007199254740993", "9007199254740992", "16777216", "16777217", "abc", "", "1e",
        "0x10",
        "1_000", "--1", "32768", "2147483648", "123456789012345678901234567890.1230", "1e400", "1e-400", "0.1000000001",
        "100", "1e2", "true", "123456.0", "9223372036854775808", "-9223372036854775808",
    ]

    private static let times = [
        "2024-02-29", "2023-02-29", "2024-02-29T12:00:00Z", "2024-02-29T12:00:00", "2024-02-29 12:00:00+00",
        "2024-02-29T14:00:00+02:00", "2024-02-29T12:00:00.120000", "2024-02-29T12:00:00.1234564Z",
        "2024-02-29T12:00:00.1234565Z", "2024-02-29T12:00:00.9999999Z", "infinity", "-infinity", "now", "yesterday",
        "epoch",
        "2024-02-29T24:00:00Z", "2024-02-29T25:00:00Z", "2024-02-29T12:00", "2024-02-29T12", "20240229", "29.02.2024",
        "",
        "0000-01-01", "0001-01-01", "2024-02-29T12:00:00-0030", "2024-02-29T12:00:00+05", "2024-13-01", "2024-2-9",
        "2024-02-29T12:00:00 Europe/Paris", "1969-12-31T23:59:59.999999", "2024-02-29T12:00:00+16", "12024-01-01",
        "0044-03-15 BC", "2024-02-29t12:00:00z", "1900-01-01", "2024-02-28T23:59:60Z", " 2024-02-29", "Infinity",
        "2024-02-29T23:59:60.5Z", "2024-02-29T24:00:00.5Z", "2024-02-29T24:00:00.0000001Z", "2024-02-29T23:60:00Z",
        "2024-02-29T12:00:61Z", "2024-02-29 ", "2024-02-29T12:00:00.000+00:00", "2024-02-29T23:00:00-05:00",
        "9999999-01-01", "300000-01-01", "5000000-01-01", "0001-01-01 BC", "0045-02-29T12:00:00Z BC",
        "2024-2-9T1:00:00",
    ]

    private static let documents = [
        ("'{}'", "{}"), ("'{\"a\": {\"x\": 1}, \"b\": 1}'", "{\"a\": {\"x\": 1}, \"b\": 1}"), ("'[1, 2]'", "[1, 2]"),
        ("'null'", "null"), ("'\"abc\"'", "\"abc\""), ("'1.50'", "1.50"), ("'true'", "true"),
        (
            "'{\"a\": null, \"n\": 1.50, \"s\": \"one\", \"t\": true}'",
            "{\"a\": null, \"n\": 1.50, \"s\": \"one\", \"t\": true}"
        ),
        ("'[1, [2], {\"a\": 1}, \"a\"]'", "[1, [2], {\"a\": 1}, \"a\"]"), ("'[]'", "[]"), ("'\"é\"'", "\"é\""),
        ("'{\"s\": \"10\"}'", "{\"s\": \"10\"}"), ("'100'", "100"), ("'{\"\": 1}'", "{\"\": 1}"),
    ]

    private static let documentPaths = [
        Path(wire: "->a", sql: "->'a'"), Path(wire: "->>a", sql: "->>'a'", isText: true),
        Path(wire: "->>n", sql: "->>'n'", isText: true), Path(wire: "->n", sql: "->'n'"),
        Path(wire: "->>s", sql: "->>'s'", isText: true), Path(wire: "->>t", sql: "->>'t'", isText: true),
        Path(wire: "->a->x", sql: "->'a'->'x'"), Path(wire: "->a->>x", sql: "->'a'->>'x'", isText: true),
        Path(wire: "->0", sql: "->0"), Path(wire: "->>0", sql: "->>0", isText: true), Path(wire: "->-1", sql: "->-1"),
        Path(wire: "->2->>a", sql: "->2->>'a'", isText: true), Path(wire: "->5", sql: "->5"),
    ]

    private static func number(_ sqlType: String, _ texts: [String]) -> ValuePool {
        ValuePool(sqlType: sqlType, values: texts.map { ("'\($0)'", $0) }, operands: numbers)
    }

    private static func text(_ sqlType: String) -> ValuePool {
        let strings = texts.filter { !$0.contains("\n") }
        return ValuePool(
            sqlType: sqlType,
            values: strings.map { (WireFormat.sqlLiteral($0), json($0)) } + [("E'line\\nbreak'", "\"line\\nbreak\"")],
            operands: texts, operators: textOperators)
    }

    private static func json(_ text: String) -> String {
        "\"" + text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "\""
    }
}
