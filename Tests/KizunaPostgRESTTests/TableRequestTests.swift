import KizunaCore
import KizunaPostgREST
import Testing

@Suite struct TableRequestTests {
    private let tasks = PlainBuilder()

    @Test func filtersInAnotherOrderShareOneCacheKey() {
        let one = tasks.eq("a", value: 1).neq("b", value: 2).order("c").limit(3).request
        let other = tasks.limit(3).neq("b", value: 2).order("c").eq("a", value: 1).request
        #expect(one.cacheKey == other.cacheKey)
        #expect(one.cacheKey == "public/tasks?select=%2A&a=eq.1&b=neq.2&limit=3&order=c.asc.nullslast")
        #expect(one != other)
    }

    @Test func everythingThatChangesTheResponseChangesTheCacheKey() {
        let keys = [
            tasks, tasks.eq("a", value: 1), tasks.eq("a", value: 2), tasks.in("a", values: [1, 2]),
            tasks.in("a", values: [2, 1]), tasks.limit(1), tasks.limit(2), tasks.range(from: 1, to: 1),
            tasks.order("a"),
            tasks.order("a", ascending: false), tasks.select("a"), tasks.single(), tasks.csv(), tasks.stripNulls(),
            tasks.select(head: true), tasks.select(count: .exact), tasks.dryRun(), PlainBuilder(schema: "other"),
            PlainBuilder("notes"), tasks.eq("t", value: "é"), tasks.eq("t", value: "e\u{301}"),
        ].map(\.request.cacheKey)
        #expect(Set(keys).count == keys.count)
    }

    @Test func aRangeUpToTheLargestIntegerIsSentWithoutOverflow() {
        let all = tasks.range(from: 0, to: .max).request
        #expect(all.limit == .max && all.offset == 0)
        #expect(
            tasks.range(from: 0, to: .max, referencedTable: "notes").request.items.dropFirst() == [
                QueryItem("notes.offset", "0"), QueryItem("notes.limit", "\(Int.max)"),
            ])
        #expect(tasks.range(from: 9, to: .max).request.limit == .max - 8)
    }

    @Test func requestsWithDifferentUnicodeCompositionDiffer() {
        #expect(tasks.eq("t", value: "é").request != tasks.eq("t", value: "e\u{301}").request)
        #expect(Set([tasks.eq("t", value: "é").request, tasks.eq("t", value: "e\u{301}").request]).count == 2)
    }

    @Test func onlyPlainRowsAreCacheable() {
        #expect(tasks.eq("a", value: 1).order("a").limit(1).request.isCacheable)
        let others = [
            tasks.single(), tasks.maybeSingle(), tasks.csv(), tasks.geojson(), tasks.explain(), tasks.stripNulls(),
            tasks.dryRun(), tasks.select(head: true), tasks.select(count: .estimated), tasks.maxAffected(1),
        ]
        #expect(others.allSatisfy { !$0.request.isCacheable })
    }

    @Test func orderTermsKeepTheirNullPlacement() {
        var request = tasks.order("a", ascending: false).order("meta->>x").order("\"b.c\"", nullsFirst: true).request
        #expect(
            request.order == [
                OrderTerm(column: "a", ascending: false, nullsFirst: false),
                OrderTerm(column: "meta->>x", nullsFirst: false, isPlainColumn: false),
                OrderTerm(column: "b.c", nullsFirst: true),
            ])
        #expect(request.orderColumns == nil)
        request = TableRequest(table: "tasks")
        request.set("order", to: "a.desc,b")
        #expect(request.order.map(\.nullsFirst) == [true, false])
        #expect(request.orderColumns == ["a", "b"])
    }

    @Test func aLimitOfAReferencedTableIsNotTheLimitOfTheRequest() {
        let request = tasks.limit(5).limit(2, referencedTable: "photos").order("id", referencedTable: "photos")
            .range(from: 10, to: 19).or("a.eq.1", referencedTable: "photos").eq("photos.id", value: 1).eq("x", value: 2)
            .request
        #expect(request.limit == 10)
        #expect(request.offset == 10)
        #expect(request.order.isEmpty)
        #expect(request.items.contains(QueryItem("photos.limit", "2")))
        #expect(request.items.contains(QueryItem("photos.order", "id.asc.nullslast")))
        #expect(request.filters.map(\.name) == ["photos.or", "photos.id", "x"])
    }

    @Test func aSelectListOfPlainColumnsCanBeAppliedOnTheDevice() {
        func selected(_ columns: String) -> SelectedColumns { PlainBuilder(columns: columns).request.selectedColumns }
        #expect(selected("*") == .all)
        #expect(selected("") == .all)
        #expect(selected("*, id") == .all)
        #expect(
            selected("id, t:title, \"a,b\"")
                == .list([
                    SelectedColumn(name: "id", column: "id"), SelectedColumn(name: "t", column: "title"),
                    SelectedColumn(name: "a,b", column: "a,b"),
                ]))
        for columns in [
            "id::text", "meta->a", "n.sum()", "count()", "*,photos(*)", "*,t:title", "...photos(url)", "a(", "a!b",
        ] {
            #expect(selected(columns) == .notFollowable, Comment(rawValue: columns))
        }
    }

    @Test func theSelectListNamesEmbeddedTablesAtEveryDepth() {
        let request = PlainBuilder(columns: "id, who:people!fk!inner(name, badges(code)), ...photos(url), note").request
        let embeds = request.selectList.embeds
        #expect(embeds.map(\.target) == ["people", "photos"])
        #expect(embeds.map(\.hints) == [["fk"], []])
        #expect(embeds.map(\.isInner) == [true, false])
        #expect(embeds[0].inside.embeds.map(\.target) == ["badges"])
        #expect(PlainBuilder(columns: "a!left!fk(id)").request.selectList.embeds.map(\.hints) == [["fk"]])
        #expect(PlainBuilder(columns: "id,count()").request.selectList.embeds.isEmpty)
    }

    @Test func writesHaveTheRequestLinesOfSupabaseSwift() {
        let insert = WriteWire.insert(table: "tasks", columns: ["title", "id"], returning: nil)
        #expect("\(insert.method) \(insert.target)" == "POST /tasks?columns=%22id%22%2C%22title%22")
        #expect(
            insert.headers.map { "\($0.name): \($0.value)" } == [
                "Accept: application/json", "Content-Type: application/json", "Content-Profile: public",
            ])
        let single = WriteWire.insert(table: "tasks", columns: nil, returning: .minimal)
        #expect(single.target == "/tasks")
        let upsert = WriteWire.insert(
            schema: "other", table: "tasks", columns: ["id"], onConflict: "id", resolution: .merge,
            defaultToNull: false,
            select: "*")
        #expect(upsert.queryText == "on_conflict=id&columns=%22id%22&select=%2A")
        #expect(
            upsert.headers.last?.value == "resolution=merge-duplicates,return=representation,missing=default")
        #expect(WriteWire.insert(table: "t", columns: [], resolution: .ignore).target == "/t")
        let key = WriteWire.keyFilters([("k1", "1"), ("k2", "a b")])
        let update = WriteWire.update(table: "pairs", filters: key, select: "id, t")
        #expect("\(update.method) \(update.target)" == "PATCH /pairs?k1=eq.1&k2=eq.a%20b&select=id%2Ct")
        let delete = WriteWire.delete(table: "pairs", filters: key, returning: .minimal)
        #expect("\(delete.method) \(delete.target)" == "DELETE /pairs?k1=eq.1&k2=eq.a%20b")
        #expect(delete.headers.last?.value == "return=minimal")
    }
}
