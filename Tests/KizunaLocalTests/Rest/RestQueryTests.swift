import KizunaLocal
import Testing

@Suite struct RestQueryTests {
    private func condition(_ text: String) throws -> Condition {
        let query = try RestQuery.parse(text)
        return try #require(query.plainFilters.first)
    }

    private func operation(_ text: String) throws -> KizunaLocal.Operation { try condition("a=" + text).operation }

    @Test func aPlainValueIsTakenAsItIs() throws {
        #expect(try operation("eq.a,b.(c)%22%5C") == .compare(sql: "=", nil, #"a,b.(c)"\"#))
        #expect(try operation("eq.") == .compare(sql: "=", nil, ""))
        #expect(try operation("neq.1+2%2B") == .compare(sql: "<>", nil, "1 2+"))
    }

    @Test func notStandsOnceAndBeforeTheOperator() throws {
        #expect(try condition("a=not.eq.1").isNegated)
        #expect(try !condition("a=eq.not.eq.1").isNegated)
        #expect(throws: RestFailure.self) { try RestQuery.parse("a=not.not.eq.1") }
    }

    @Test func listMembersMayBeQuoted() throws {
        #expect(try operation(#"in.(1,"a,b","c\"d",e"f, g)"#) == .oneOf(["1", "a,b", #"c"d"#, #"e"f"#, " g"]))
        #expect(try operation("in.()") == .oneOf([""]))
        #expect(throws: RestFailure.self) { try RestQuery.parse("a=in.1,2") }
    }

    @Test func quantifiersAreForSomeOperatorsOnly() throws {
        #expect(try operation("like(any).{a*,b}") == .compare(sql: "LIKE", .any, "{a*,b}"))
        #expect(try operation("gt(all).{1}") == .compare(sql: ">", .all, "{1}"))
        for wrong in ["neq(any).{1}", "eq(some).{1}", "eq().1", "cs(any).{1}"] {
            #expect(throws: RestFailure.self) { try RestQuery.parse("a=" + wrong) }
        }
    }

    @Test func isTakesFewWordsInAnyLetterCase() throws {
        #expect(try operation("is.NoT_nUlL") == .isWord("NOT NULL"))
        #expect(try operation("is.unknown") == .isWord("UNKNOWN"))
        for wrong in ["is.nil", "is.nullx", "is.", "is.(null)"] {
            #expect(throws: RestFailure.self) { try RestQuery.parse("a=" + wrong) }
        }
    }

    @Test func searchesMayNameTheirLanguage() throws {
        #expect(
            try operation("wfts(english).a -b")
                == .search(function: "websearch_to_tsquery", language: "english", "a -b"))
        #expect(try operation("plfts.a") == .search(function: "plainto_tsquery", language: nil, "a"))
        #expect(throws: RestFailure.self) { try RestQuery.parse("a=fts().a") }
    }

    @Test func logicTreesNestAndKeepTheirOrder() throws {
        let query = try RestQuery.parse(#"not.or=(a.eq.1, not.and(b.in.(1,2),c.eq."x,)y"),d.cs.{1,2})"#)
        func leaf(_ name: String, _ operation: KizunaLocal.Operation) -> LogicTree {
            .condition(Condition(field: Field(name: name), isNegated: false, operation: operation))
        }
        #expect(
            query.filters == [
                .group(
                    isNegated: true, isAnd: false,
                    [
                        leaf("a", .compare(sql: "=", nil, "1")),
                        .group(
                            isNegated: true, isAnd: true,
                            [leaf("b", .oneOf(["1", "2"])), leaf("c", .compare(sql: "=", nil, "x,)y"))]),
                        leaf("d", .compare(sql: "@>", nil, "{1,2}")),
                    ])
            ])
    }

    @Test(arguments: ["or=()", "or=(a.eq.1", "or=a.eq.1", "and=(a.eq.1))", "or=(xor(a.eq.1))", "or=(a.eq.1,)"])
    func brokenTreesAreRefused(_ text: String) {
        #expect(throws: RestFailure.self) { try RestQuery.parse(text) }
    }

    @Test func treesAreOnlySoDeep() throws {
        func nested(_ depth: Int) -> String {
            "or=" + String(repeating: "(and", count: depth) + "(a.eq.1)" + String(repeating: ")", count: depth)
        }
        #expect(throws: Never.self) { try RestQuery.parse(nested(60)) }
        #expect(throws: RestFailure.self) { try RestQuery.parse(nested(100_000)) }
    }

    @Test func orderReadsDirectionAndNulls() throws {
        let query = try RestQuery.parse("order=a.desc.nullslast,b,meta->>x.asc,c.nullsfirst")
        #expect(query.order.map(\.isDescending) == [true, nil, false, nil])
        #expect(query.order.map(\.nulls) == [.last, nil, nil, .first])
        for wrong in ["a.down", "a.nullslast.desc", "a.asc.desc", "", "a,"] {
            #expect(throws: RestFailure.self) { try RestQuery.parse("order=" + wrong) }
        }
    }

    @Test func namesOutsideTheTableAreNoticed() throws {
        #expect(try RestQuery.parse("rel.a=eq.1").embeddedName == "rel")
        #expect(try RestQuery.parse("rel.or=(a.eq.1)").embeddedName == "rel")
        #expect(try RestQuery.parse("rel.not.and=(a.eq.1)").embeddedName == "rel")
        #expect(try RestQuery.parse("not.and=(a.eq.1)").embeddedName == nil)
        #expect(try RestQuery.parse("%22a.b%22=eq.1").embeddedName == nil)
    }

    @Test func anUnknownOperatorIsReportedWhereItStands() throws {
        let failure = #expect(throws: RestFailure.self) { try RestQuery.parse("id=5") }
        #expect(failure?.code == "PGRST100")
        #expect(failure?.message == #""failed to parse filter (5)" (line 1, column 1)"#)
        #expect(failure?.details == #"unexpected "5" expecting "not" or operator (eq, gt, ...)"#)
    }

    @Test func limitsThatAreNoNumbersAreNoLimits() throws {
        #expect(try RestQuery.parse("limit=x&offset=").limit == nil)
        #expect(try RestQuery.parse("limit=5").limit == 5)
    }
}
