import Foundation
import KizunaCore
import KizunaPostgREST

extension RequestCalls {
    /// Calls on `tasks` with their source text; their request lines are in `request-lines.json`.
    static let others: [Entry] = [
        (
            #".contains("tags", value: [" a", "say \"hi\"", "b\\c"])"#,
            { $0.contains("tags", value: [" a", "say \"hi\"", "b\\c"]) }
        ),
        (#".contains("ints", value: [1, 2])"#, { $0.contains("ints", value: [1, 2]) }),
        (#".contains("grid", value: [[1, 2], [3, 4]])"#, { $0.contains("grid", value: [[1, 2], [3, 4]]) }),
        (#".contains("meta", value: ["size": 10])"#, { $0.contains("meta", value: ["size": 10]) }),
        (#".contains("meta", value: ["b": "x/y", "a": "z"])"#, { $0.contains("meta", value: ["b": "x/y", "a": "z"]) }),
        (#".contains("period", value: "[1,5)")"#, { $0.contains("period", value: "[1,5)") }),
        (#".containedBy("tags", value: ["red"])"#, { $0.containedBy("tags", value: ["red"]) }),
        (
            #".containedBy("meta", value: RawJSON(string: "a"))"#,
            { $0.containedBy("meta", value: RawJSON(string: "a")) }
        ),
        (#".overlaps("tags", value: ["red"])"#, { $0.overlaps("tags", value: ["red"]) }),
        (#".rangeLt("p", range: "[1,5)")"#, { $0.rangeLt("p", range: "[1,5)") }),
        (#".rangeGt("p", range: "[1,5)")"#, { $0.rangeGt("p", range: "[1,5)") }),
        (#".rangeGte("p", range: "[1,5)")"#, { $0.rangeGte("p", range: "[1,5)") }),
        (#".rangeLte("p", range: "[1,5)")"#, { $0.rangeLte("p", range: "[1,5)") }),
        (#".rangeAdjacent("p", range: "[1,5)")"#, { $0.rangeAdjacent("p", range: "[1,5)") }),
        (#".textSearch("body", query: "cat & dog")"#, { $0.textSearch("body", query: "cat & dog") }),
        (
            #".textSearch("body", query: "cat", config: "english")"#,
            { $0.textSearch("body", query: "cat", config: "english") }
        ),
        (#".textSearch("body", query: "cat", type: .plain)"#, { $0.textSearch("body", query: "cat", type: .plain) }),
        (
            #".textSearch("body", query: "cat", config: "german", type: .phrase)"#,
            { $0.textSearch("body", query: "cat", config: "german", type: .phrase) }
        ),
        (
            #".textSearch("body", query: "cat", type: .websearch)"#,
            { $0.textSearch("body", query: "cat", type: .websearch) }
        ),
        (#".fts("body", query: "cat")"#, { $0.fts("body", query: "cat") }),
        (#".fts("body", query: "cat", config: "simple")"#, { $0.fts("body", query: "cat", config: "simple") }),
        (#".not("done", operator: .is, value: true)"#, { $0.not("done", operator: .is, value: true) }),
        (#".not("id", operator: .in, value: "(1,2)")"#, { $0.not("id", operator: .in, value: "(1,2)") }),
        (#".not("x", operator: "eq", value: 1)"#, { $0.not("x", operator: "eq", value: 1) }),
        (#".or("done.is.true,priority.gt.3")"#, { $0.or("done.is.true,priority.gt.3") }),
        (#".or("a.eq.\"x,y\",b.in.(1,2)")"#, { $0.or("a.eq.\"x,y\",b.in.(1,2)") }),
        (#".or("and(a.eq.1,b.eq.2),c.is.null")"#, { $0.or("and(a.eq.1,b.eq.2),c.is.null") }),
        (#".or("id.eq.1", referencedTable: "photos")"#, { $0.or("id.eq.1", referencedTable: "photos") }),
        (#".or("a.eq.1").or("b.eq.2")"#, { $0.or("a.eq.1").or("b.eq.2") }),
        (#".filter("a", operator: "gte", value: "3")"#, { $0.filter("a", operator: "gte", value: "3") }),
        (#".filter("photos.id", operator: "eq", value: "3")"#, { $0.filter("photos.id", operator: "eq", value: "3") }),
        (#".match(["done": false, "priority": 1, "a": "x"])"#, { $0.match(["done": false, "priority": 1, "a": "x"]) }),
        (#".match([:])"#, { $0.match([:]) }),
        (#".order("created_at")"#, { $0.order("created_at") }),
        (#".order("created_at", ascending: false)"#, { $0.order("created_at", ascending: false) }),
        (
            #".order("created_at", ascending: false, nullsFirst: true)"#,
            { $0.order("created_at", ascending: false, nullsFirst: true) }
        ),
        (#".order("a").order("b", ascending: false)"#, { $0.order("a").order("b", ascending: false) }),
        (#".order("a").eq("x", value: 1).order("b")"#, { $0.order("a").eq("x", value: 1).order("b") }),
        (#".order("id", referencedTable: "photos")"#, { $0.order("id", referencedTable: "photos") }),
        (
            #".order("a").order("id", referencedTable: "photos").order("b")"#,
            { $0.order("a").order("id", referencedTable: "photos").order("b") }
        ),
        (#".limit(20)"#, { $0.limit(20) }),
        (#".limit(20).limit(5)"#, { $0.limit(20).limit(5) }),
        (#".limit(5, referencedTable: "photos")"#, { $0.limit(5, referencedTable: "photos") }),
        (#".range(from: 10, to: 19)"#, { $0.range(from: 10, to: 19) }),
        (#".limit(3).range(from: 0, to: 9)"#, { $0.limit(3).range(from: 0, to: 9) }),
        (
            #".range(from: 0, to: 4, referencedTable: "photos")"#,
            { $0.range(from: 0, to: 4, referencedTable: "photos") }
        ),
        (#".range(from: 0, to: 9).limit(2)"#, { $0.range(from: 0, to: 9).limit(2) }),
        (#".limit(1).eq("a", value: 1).limit(2)"#, { $0.limit(1).eq("a", value: 1).limit(2) }),
        (#".select()"#, { $0.select() }),
        (#".select("id, title")"#, { $0.select("id, title") }),
        (#".select("id,\"with space\" , t:title")"#, { $0.select("id,\"with space\" , t:title") }),
        (#".select("*, photos!inner(id, url)")"#, { $0.select("*, photos!inner(id, url)") }),
        (#".eq("a", value: 1).select("id")"#, { $0.eq("a", value: 1).select("id") }),
        (#".select("id").select("title")"#, { $0.select("id").select("title") }),
        (#".select(head: true, count: .exact)"#, { $0.select(head: true, count: .exact) }),
        (#".single()"#, { $0.single() }),
        (#".maybeSingle()"#, { $0.maybeSingle() }),
        (#".csv()"#, { $0.csv() }),
        (#".geojson()"#, { $0.geojson() }),
        (#".stripNulls()"#, { $0.stripNulls() }),
        (#".explain()"#, { $0.explain() }),
        (#".dryRun()"#, { $0.dryRun() }),
        (
            #".eq("done", value: false).order("created_at", ascending: false).limit(20)"#,
            { $0.eq("done", value: false).order("created_at", ascending: false).limit(20) }
        ),
        (
            #".ilike("title", pattern: "%x%").neq("done", value: true).in("task_id", values: Fixed.ids)"#,
            { $0.ilike("title", pattern: "%x%").neq("done", value: true).in("task_id", values: Fixed.ids) }
        ),
    ]
}
