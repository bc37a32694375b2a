import Foundation
import KizunaCore
import KizunaPostgREST

extension RequestCalls {
    /// Calls on `tasks` with their source text; their request lines are in `request-lines.json`.
    static let filters: [Entry] = [
        (#".eq("done", value: false)"#, { $0.eq("done", value: false) }),
        (#".eq("priority", value: 3)"#, { $0.eq("priority", value: 3) }),
        (#".eq("priority", value: -3)"#, { $0.eq("priority", value: -3) }),
        (#".eq("n", value: Int8(8))"#, { $0.eq("n", value: Int8(8)) }),
        (#".eq("n", value: Int16(16))"#, { $0.eq("n", value: Int16(16)) }),
        (#".eq("n", value: Int32(32))"#, { $0.eq("n", value: Int32(32)) }),
        (
            #".eq("n", value: Int64(9_223_372_036_854_775_807))"#,
            { $0.eq("n", value: Int64(9_223_372_036_854_775_807)) }
        ),
        (
            #".eq("n", value: UInt64(18_446_744_073_709_551_615))"#,
            { $0.eq("n", value: UInt64(18_446_744_073_709_551_615)) }
        ),
        (
            #".eq("n", value: UInt8(1)).eq("n", value: UInt16(2)).eq("n", value: UInt32(3)).eq("n", value: UInt(4))"#,
            { $0.eq("n", value: UInt8(1)).eq("n", value: UInt16(2)).eq("n", value: UInt32(3)).eq("n", value: UInt(4)) }
        ),
        (#".eq("x", value: 1.0)"#, { $0.eq("x", value: 1.0) }),
        (#".eq("x", value: 1e16)"#, { $0.eq("x", value: 1e16) }),
        (#".eq("x", value: 0.1)"#, { $0.eq("x", value: 0.1) }),
        (#".eq("x", value: Float(0.1))"#, { $0.eq("x", value: Float(0.1)) }),
        (#".eq("x", value: Double.infinity)"#, { $0.eq("x", value: Double.infinity) }),
        (#".eq("x", value: Double.nan)"#, { $0.eq("x", value: Double.nan) }),
        (#".eq("title", value: "buy milk")"#, { $0.eq("title", value: "buy milk") }),
        (#".eq("title", value: "a,b.c(d)")"#, { $0.eq("title", value: "a,b.c(d)") }),
        (#".eq("title", value: "50% off & more")"#, { $0.eq("title", value: "50% off & more") }),
        (#".eq("title", value: "")"#, { $0.eq("title", value: "") }),
        (#".eq("title", value: "é😀")"#, { $0.eq("title", value: "é😀") }),
        (#".eq("title", value: "a/b?c=d#e")"#, { $0.eq("title", value: "a/b?c=d#e") }),
        (#".eq("title", value: "say \"hi\" \\ bye")"#, { $0.eq("title", value: "say \"hi\" \\ bye") }),
        (#".eq("title", value: "1+1")"#, { $0.eq("title", value: "1+1") }),
        (#".eq("title", value: "abc".prefix(2))"#, { $0.eq("title", value: "abc".prefix(2)) }),
        (#".eq("status", value: Status.open)"#, { $0.eq("status", value: Status.open) }),
        (#".eq("id", value: Fixed.uuid)"#, { $0.eq("id", value: Fixed.uuid) }),
        (#".gte("created_at", value: Fixed.date)"#, { $0.gte("created_at", value: Fixed.date) }),
        (
            #".lt("created_at", value: Date(timeIntervalSince1970: 0))"#,
            { $0.lt("created_at", value: Date(timeIntervalSince1970: 0)) }
        ),
        (
            #".lt("created_at", value: Date(timeIntervalSince1970: -1.5))"#,
            { $0.lt("created_at", value: Date(timeIntervalSince1970: -1.5)) }
        ),
        (#".eq("amount", value: Fixed.decimal)"#, { $0.eq("amount", value: Fixed.decimal) }),
        (#".eq("\"a.b\"", value: "x")"#, { $0.eq("\"a.b\"", value: "x") }),
        (#".eq("with space", value: 1)"#, { $0.eq("with space", value: 1) }),
        (#".eq("meta->>kind", value: "doc")"#, { $0.eq("meta->>kind", value: "doc") }),
        (#".eq("meta->size", value: 10)"#, { $0.eq("meta->size", value: 10) }),
        (#".eq("tags", value: ["a", "b"])"#, { $0.eq("tags", value: ["a", "b"]) }),
        (#".neq("done", value: true)"#, { $0.neq("done", value: true) }),
        (#".gt("priority", value: 3)"#, { $0.gt("priority", value: 3) }),
        (#".gte("priority", value: 3)"#, { $0.gte("priority", value: 3) }),
        (#".lt("priority", value: 3)"#, { $0.lt("priority", value: 3) }),
        (#".lte("priority", value: 3)"#, { $0.lte("priority", value: 3) }),
        (
            #".gte("priority", value: 1).lte("priority", value: 3)"#,
            { $0.gte("priority", value: 1).lte("priority", value: 3) }
        ),
        (#".eq("a", value: 1).eq("a", value: 1)"#, { $0.eq("a", value: 1).eq("a", value: 1) }),
        (#".is("done", value: true)"#, { $0.is("done", value: true) }),
        (#".is("done", value: false)"#, { $0.is("done", value: false) }),
        (#".is("note", value: nil)"#, { $0.is("note", value: nil) }),
        (#".isDistinct("note", value: "a")"#, { $0.isDistinct("note", value: "a") }),
        (#".isDistinct("priority", value: 1)"#, { $0.isDistinct("priority", value: 1) }),
        (#".in("task_id", values: ["a", "b"])"#, { $0.in("task_id", values: ["a", "b"]) }),
        (#".in("task_id", values: Fixed.ids)"#, { $0.in("task_id", values: Fixed.ids) }),
        (#".in("id", values: [1, 2, 3])"#, { $0.in("id", values: [1, 2, 3]) }),
        (#".in("id", values: [])"#, { $0.in("id", values: []) }),
        (#".in("t", values: [""])"#, { $0.in("t", values: [""]) }),
        (#".in("t", values: ["a,b", "c"])"#, { $0.in("t", values: ["a,b", "c"]) }),
        (#".in("t", values: ["(x)", "y"])"#, { $0.in("t", values: ["(x)", "y"]) }),
        (#".in("t", values: ["a)", "(b"])"#, { $0.in("t", values: ["a)", "(b"]) }),
        (#".in("t", values: ["say \"hi\""])"#, { $0.in("t", values: ["say \"hi\""]) }),
        (#".in("t", values: ["back\\slash"])"#, { $0.in("t", values: ["back\\slash"]) }),
        (#".in("t", values: [" edge", "edge ", "in side"])"#, { $0.in("t", values: [" edge", "edge ", "in side"]) }),
        (#".in("t", values: ["{a}", "a.b", "NULL"])"#, { $0.in("t", values: ["{a}", "a.b", "NULL"]) }),
        (#".in("id", values: [Fixed.uuid])"#, { $0.in("id", values: [Fixed.uuid]) }),
        (#".in("x", values: [1, "a", true, 1.5])"#, { $0.in("x", values: [1, "a", true, 1.5]) }),
        (#".notIn("id", values: [1, 2])"#, { $0.notIn("id", values: [1, 2]) }),
        (#".notIn("t", values: ["a,b"])"#, { $0.notIn("t", values: ["a,b"]) }),
        (#".like("title", pattern: "draw%")"#, { $0.like("title", pattern: "draw%") }),
        (#".like("title", pattern: "*plan*")"#, { $0.like("title", pattern: "*plan*") }),
        (#".like("title", pattern: "100\\%")"#, { $0.like("title", pattern: "100\\%") }),
        (#".ilike("title", pattern: "%x%")"#, { $0.ilike("title", pattern: "%x%") }),
        (#".likeAllOf("title", patterns: ["a%", "%z"])"#, { $0.likeAllOf("title", patterns: ["a%", "%z"]) }),
        (#".likeAnyOf("title", patterns: ["a%", "b,c"])"#, { $0.likeAnyOf("title", patterns: ["a%", "b,c"]) }),
        (#".iLikeAllOf("title", patterns: ["a%", "%z"])"#, { $0.iLikeAllOf("title", patterns: ["a%", "%z"]) }),
        (#".iLikeAnyOf("title", patterns: ["a%"])"#, { $0.iLikeAnyOf("title", patterns: ["a%"]) }),
        (#".likeAnyOf("title", patterns: [String]())"#, { $0.likeAnyOf("title", patterns: [String]()) }),
        (#".match("title", pattern: "^a.*z$")"#, { $0.match("title", pattern: "^a.*z$") }),
        (#".imatch("title", pattern: "^A")"#, { $0.imatch("title", pattern: "^A") }),
        (#".contains("tags", value: ["red", "blue"])"#, { $0.contains("tags", value: ["red", "blue"]) }),
        (
            #".contains("tags", value: ["a b", "c,d", "{e}", ""])"#,
            { $0.contains("tags", value: ["a b", "c,d", "{e}", ""]) }
        ),
        (#".contains("tags", value: ["NULL", "null", nil])"#, { $0.contains("tags", value: ["NULL", "null", nil]) }),
    ]
}
