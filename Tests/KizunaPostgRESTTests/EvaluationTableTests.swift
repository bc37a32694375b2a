import KizunaCore
import KizunaPostgREST
import Testing

/// One line per rule of the evaluation table: type, cell, test, result.
@Suite struct EvaluationTableTests {
    private typealias Line = (type: KizunaColumnType, json: String, test: String, response: Truth)

    private static let numbers: [Line] = [
        (.numeric, "-2", "lt.-1", .yes), (.numeric, "-2.5", "gt.-2.50001", .yes), (.numeric, "-1", "lt.0", .yes),
        (.numeric, "1.50", "eq.1.5", .yes), (.numeric, "0.00", "eq.-0", .yes), (.numeric, "9.9", "lt.10", .yes),
        (.numeric, "100", "gt.99.999", .yes), (.numeric, "\"NaN\"", "gt.Infinity", .yes),
        (.numeric, "\"NaN\"", "eq.nan", .yes), (.numeric, "\"-Infinity\"", "lt.-1e300", .yes),
        (.numeric, "1", "eq.0x1", .unknown), (.numeric, "1", "eq.one", .unknown), (.int2, "5", "lt.32768", .unknown),
        (.int8, "9007199254740993", "gt.9007199254740992", .yes), (.int8, "5", "eq. +5 ", .yes),
        (.int4, "5", "eq.5.0", .unknown), (.float4, "0.1", "eq.0.1", .yes), (.float4, "0.1", "eq.0.1000000001", .yes),
        (.float8, "0.1", "eq.0.1000000001", .no), (.float8, "-0", "eq.0", .yes), (.float8, "1e+20", "eq.1e20", .yes),
        (.float8, "1", "lt.1e400", .unknown), (.numeric, "1", "gt.1e-9223372036854775808", .unknown),
        (.jsonb, "1e-9223372036854775808", "lt.1", .unknown),
    ]

    private static let scalars: [Line] = [
        (.bool, "true", "eq.T", .yes), (.bool, "false", "lt.true", .yes), (.bool, "true", "eq.maybe", .unknown),
        (.bool, "null", "not.is.true", .yes), (.bool, "null", "is.unknown", .yes), (.bool, "null", "neq.true", .null),
        (.text, "\"é\"", "eq.e\u{301}", .no), (.text, "\"a \"", "eq.a", .no), (.text, "\"\"", "eq.", .yes),
        (.text, "\"a\"", "neq.b", .yes), (.text, "\"a\"", "gt.b", .unknown), (.char, "\"ab   \"", "eq.ab", .yes),
        (.char, "\"ab   \"", "gt.aa", .unknown), (.text, "\"a\"", "is.true", .unknown),
        (.uuid, "\"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\"", "eq.{A0EEBC999C0B4EF8BB6D6BB9BD380A11}", .yes),
        (.uuid, "\"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\"", "gt.9fffffff-ffff-ffff-ffff-ffffffffffff", .yes),
        (.uuid, "\"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\"", "neq.x", .unknown),
        (.bytea, "\"\\\\xdead\"", "eq.\\xDEAD", .yes), (.bytea, "\"\\\\xdead\"", "eq.dead", .unknown),
        (.enumeration(["sad", "ok"]), "\"sad\"", "lt.ok", .yes),
        (.enumeration(["sad", "ok"]), "\"sad\"", "eq.up", .unknown),
    ]

    private static let times: [Line] = [
        (.date, "\"2024-02-29\"", "gt.2024-02-28", .yes), (.date, "\"2024-02-29\"", "eq.2023-02-29", .unknown),
        (.date, "\"infinity\"", "gt.9999-12-31", .yes), (.date, "\"2024-02-29\"", "eq.29.02.2024", .unknown),
        (.timestamp, "\"2024-02-29T12:00:00\"", "eq.2024-02-29T12:00:00+05:00", .yes),
        (.timestamptz, "\"2024-02-29T12:00:00.12+00:00\"", "eq.2024-02-29 14:00:00.120000+02", .yes),
        (.timestamptz, "\"2024-02-29T12:00:00+00:00\"", "gte.2024-02-29", .yes),
        (.timestamptz, "\"2024-02-29T12:00:00.123457+00:00\"", "eq.2024-02-29T12:00:00.1234567Z", .yes),
        (.timestamptz, "\"2024-02-29T12:00:00+00:00\"", "lt.now", .unknown),
        (.time, "\"24:00:00\"", "gt.23:59:59.999999", .yes),
        (.timestamp, "\"294276-12-31T23:59:59.999999\"", "gt.2024-02-29", .yes),
        (.timestamp, "\"infinity\"", "gt.294276-12-31T23:59:59.999999", .yes),
        (.timestamptz, "\"2024-02-29T12:00:00+00:00\"", "lt.294276-12-31T23:59:59-15:59", .unknown),
        (.timestamptz, "\"294276-12-31T23:59:59.999999+00:00\"", "eq.294277-01-01T00:59:59.999999+01", .unknown),
        (.timestamp, "\"4713-11-24T00:00:00 BC\"", "lt.4713-11-25 BC", .yes),
        (.timestamp, "\"2024-02-29T12:00:00\"", "gt.294276-01-01 BC", .unknown),
        (.timestamptz, "\"2024-02-29T12:00:00+00:00\"", "gt.4714-11-24T00:00:00+10 BC", .unknown),
        (KizunaColumnType(rawValue: "interval"), "\"1 day\"", "eq.1 day", .unknown),
    ]

    private static let containers: [Line] = [
        (.array(of: .int4), "[1,2,3]", "cs.{3,1,1}", .yes), (.array(of: .int4), "[1,2]", "cs.{}", .yes),
        (.array(of: .int4), "[1,null]", "cs.{NULL}", .no), (.array(of: .int4), "[1,null]", "cd.{1,NULL}", .no),
        (.array(of: .int4), "[1,null]", "eq.{1,NULL}", .yes), (.array(of: .int4), "[1,2]", "ov.{2,9}", .yes),
        (.array(of: .int4), "[1,2]", "lt.{1,NULL}", .yes), (.array(of: .int4), "[1,2]", "lt.{1,2,0}", .yes),
        (.array(of: .text), "[\"a\",\"b c\"]", "cs.{\"b c\"}", .yes),
        (.array(of: .text), "[\"a\"]", "gt.{b}", .unknown),
        (.array(of: .int4), "[[1],[2]]", "cs.{1}", .unknown), (.array(of: .int4), "[1]", "cs.{1", .unknown),
        (.jsonb, "{\"a\":1.0,\"b\":[1,2]}", "eq.{\"b\":[1,2],\"a\":1}", .yes), (.jsonb, "[1,2]", "cs.1", .yes),
        (.jsonb, "1", "cs.[1]", .no), (.jsonb, "[[1,2]]", "cs.[1]", .no),
        (.jsonb, "{\"a\":{\"x\":1}}", "cs.{\"a\":{}}", .yes),
        (.jsonb, "{}", "cd.{\"a\":1}", .yes), (.jsonb, "10", "gt.9", .yes), (.jsonb, "\"a\"", "gt.\"b\"", .unknown),
        (.jsonb, "{}", "eq.{x", .unknown), (.json, "{}", "eq.{}", .unknown), (.jsonb, "null", "is.null", .unknown),
    ]

    @Test func everyRuleOfTheEvaluationTableHolds() {
        for line in Self.numbers + Self.scalars + Self.times + Self.containers {
            let row = RowView(RawJSON(unchecked: Array("{\"c\":\(line.json)}".utf8)))
            let truth = FilterExpression(filters: [QueryItem("c", line.test)])
                .evaluate(row, in: TableTypes(columns: ["c": line.type]))
            #expect(truth == line.response, "\(line.type.rawValue) \(line.json) \(line.test)")
        }
    }

    @Test func jsonPathsSelectByKeyAndIndex() {
        let json = #"{"c":{"s":"one","n":1.50,"e":1e3,"o":{"x":true},"l":[1,"a"],"z":null,"t":true}}"#
        let row = RowView(RawJSON(unchecked: Array(json.utf8)))
        let lines: [(String, String, Truth)] = [
            ("c->>s", "eq.one", .yes), ("c->s", #"eq."one""#, .yes), ("c->s", "eq.one", .unknown),
            ("c->>n", "eq.1.50", .yes), ("c->>n", "eq.1.5", .no), ("c->n", "eq.1.5", .yes),
            ("c->>e", "eq.1000", .unknown),
            ("c->>t", "eq.true", .yes), ("c->z", "is.null", .no), ("c->>z", "is.null", .yes),
            ("c->gone", "is.null", .yes),
            ("c->gone->x", "eq.1", .null), ("c->o->>x", "eq.true", .yes), ("c->>o", #"eq.{"x": true}"#, .unknown),
            ("c->>o", "is.null", .no), ("c->l->0", "eq.1", .yes), ("c->l->>-1", "eq.a", .yes),
            ("c->l->5", "is.null", .yes),
            ("c->l->k", "is.null", .yes), ("c->0", "is.null", .yes), ("c->s->k", "is.null", .yes),
            ("c->>s", "gt.a", .unknown),
        ]
        for (name, test, response) in lines {
            let truth = FilterExpression(filters: [QueryItem(name, test)]).evaluate(row, in: TableTypes())
            #expect(truth == response, "\(name)=\(test)")
        }
    }

    @Test func anyIsOrAndAllIsAndOverTheElements() {
        let row = RowView(RawJSON(unchecked: Array(#"{"c":2,"n":null}"#.utf8)))
        let types = TableTypes(columns: ["c": .int4, "n": .int4])
        let lines: [(String, String, Truth)] = [
            ("c", "eq(any).{1,2}", .yes), ("c", "eq(any).{1,NULL}", .null), ("c", "eq(any).{}", .no),
            ("c", "gt(all).{}", .yes),
            ("c", "gt(all).{1,0}", .yes), ("c", "gt(all).{5,NULL}", .no), ("n", "eq(any).{}", .no),
            ("n", "eq(any).{1}", .null),
            ("c", "eq(any).{x}", .unknown), ("c", "in.(2,x)", .unknown), ("n", "not.in.()", .yes),
            ("n", "in.(1)", .null),
        ]
        for (name, test, response) in lines {
            let truth = FilterExpression(filters: [QueryItem(name, test)]).evaluate(row, in: types)
            #expect(truth == response, "\(name)=\(test)")
        }
    }

    @Test func regularExpressionsWithoutSpecialCharactersAreEvaluatedIfEnabled() {
        let row = RowView(RawJSON(unchecked: Array(#"{"c":"Draw plan"}"#.utf8)))
        let types = TableTypes(columns: ["c": .text], patternEvaluation: .ascii)
        let lines: [(String, Truth)] = [
            ("match.^Draw", .yes), ("match.plan$", .yes), ("match.draw", .no), ("imatch.draw", .yes),
            ("match.a.n", .unknown),
            ("like(any).{x%,%plan}", .yes), ("like(all).{D%,%x}", .no), ("like.Draw_plan", .yes),
            ("like.a\\", .unknown),
        ]
        for (test, response) in lines {
            let truth = FilterExpression(filters: [QueryItem("c", test)]).evaluate(row, in: types)
            #expect(truth == response, Comment(rawValue: test))
            #expect(
                FilterExpression(filters: [QueryItem("c", test)]).evaluate(row, in: TableTypes(columns: ["c": .text]))
                    == .unknown)
        }
    }
}
