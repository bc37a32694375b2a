import KizunaCore
import KizunaPostgREST
import Testing

@Suite struct FilterExpressionTests {
    private let tasks = PlainBuilder()

    private func truth(
        _ row: String, _ filters: (String, String)..., types: TableTypes = TableTypes(), columns: String = "*"
    ) -> Truth {
        let items = filters.map { QueryItem($0.0, $0.1) }
        return FilterExpression(filters: items, select: SelectList(parsing: columns))
            .evaluate(RowView(RawJSON(unchecked: Array(row.utf8))), in: types)
    }

    // MARK: - Without declared types

    @Test func aChangedBooleanMovesARowBetweenListsWithoutDeclaredTypes() {
        for (row, isDone) in [(#"{"done":true}"#, true), (#"{"done":false}"#, false)] {
            let view = RowView(RawJSON(unchecked: Array(row.utf8)))
            func response(_ builder: PlainBuilder) -> Truth {
                FilterExpression(builder.request).evaluate(view, in: TableTypes())
            }
            #expect(response(tasks.eq("done", value: false)) == (isDone ? .no : .yes))
            #expect(response(tasks.neq("done", value: true)) == (isDone ? .no : .yes))
            #expect(response(tasks.is("done", value: true)) == (isDone ? .yes : .no))
            #expect(response(tasks.in("done", values: [true])) == (isDone ? .yes : .no))
        }
    }

    @Test func aPatternIsUnknownUnlessPatternEvaluationIsOn() {
        let row = #"{"title":"Draw plan"}"#
        #expect(truth(row, ("title", "ilike.%plan%")) == .unknown)
        let ascii = TableTypes(patternEvaluation: .ascii)
        #expect(truth(row, ("title", "ilike.%PLAN%"), types: ascii) == .yes)
        #expect(truth(row, ("title", "ilike.%x%"), types: ascii) == .no)
        #expect(truth(row, ("title", "like.%plan"), types: ascii) == .yes)
        // citext would match, text does not.
        #expect(truth(row, ("title", "like.%PLAN"), types: ascii) == .unknown)
        #expect(truth(row, ("title", "ilike.%é%"), types: ascii) == .unknown)
        #expect(truth(#"{"title":null}"#, ("title", "ilike.%x%")) == .null)
    }

    @Test func undeclaredNumbersAreDecidedWhereAllNumberTypesAgree() {
        #expect(truth(#"{"n":5}"#, ("n", "eq.5")) == .yes)
        #expect(truth(#"{"n":5}"#, ("n", "gt.4.5")) == .yes)
        #expect(truth(#"{"n":123456789}"#, ("n", "eq.123456788")) == .no)
        #expect(truth(#"{"n":9007199254740993}"#, ("n", "eq.9007199254740992")) == .no)
        // A real rounds the operand, a numeric does not.
        #expect(truth(#"{"n":0.1}"#, ("n", "eq.0.1000000001")) == .unknown)
        #expect(truth(#"{"n":0.1}"#, ("n", "eq.0.1")) == .yes)
    }

    @Test func undeclaredStringsAreDecidedWhereAllTypesAgree() {
        #expect(truth(#"{"s":"open"}"#, ("s", "eq.open")) == .yes)
        #expect(truth(#"{"s":"open"}"#, ("s", "eq.done")) == .no)
        #expect(truth(#"{"s":"open"}"#, ("s", "in.(done,shut)")) == .no)
        #expect(truth(#"{"s":"open"}"#, ("s", "eq.OPEN")) == .unknown)
        #expect(truth(#"{"s":"open"}"#, ("s", "gt.done")) == .unknown)
        #expect(truth(#"{"s":"tasks"}"#, ("s", "eq.public.tasks")) == .unknown)
        // A jsonb string "5" differs from the number 5, a text does not.
        #expect(truth(#"{"s":"5"}"#, ("s", "eq.5")) == .unknown)
        let id = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
        #expect(truth(#"{"s":"\#(id)"}"#, ("s", "eq.\(id)")) == .yes)
        #expect(truth(#"{"s":"\#(id)"}"#, ("s", "eq.\(id.uppercased())")) == .unknown)
        #expect(truth(#"{"s":"\#(id)"}"#, ("s", "eq.b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")) == .no)
        #expect(truth(#"{"s":"2024-01-01T00:00:00+00:00"}"#, ("s", "eq.2024-01-01T01:00:00+01:00")) == .unknown)
        #expect(truth(#"{"s":"2024-01-01T00:00:00+00:00"}"#, ("s", "eq.2024-01-02")) == .no)
        #expect(truth(#"{"s":"é"}"#, ("s", "eq.e")) == .unknown)
    }

    @Test func aMissingColumnIsUnknownAndANullIsDecided() {
        #expect(truth("{}", ("a", "eq.1")) == .unknown)
        #expect(truth(#"{"a":null}"#, ("a", "eq.1")) == .null)
        #expect(truth(#"{"a":null}"#, ("a", "is.null")) == .yes)
        #expect(truth(#"{"a":null}"#, ("a", "not.is.true")) == .yes)
        #expect(truth(#"{"a":1,"a":null}"#, ("a", "is.null")) == .yes)
        #expect(truth(#"{"\u0061":1}"#, ("a", "eq.1")) == .yes)
    }

    // MARK: - Declared types beyond the generated ones

    @Test func textIsOrderedInTheCollationCOnly() {
        let plain = TableTypes(columns: ["t": .text])
        let ordered = TableTypes(columns: ["t": .text.byteOrdered])
        #expect(truth(#"{"t":"Zebra"}"#, ("t", "lt.apple"), types: plain) == .unknown)
        #expect(truth(#"{"t":"Zebra"}"#, ("t", "lt.apple"), types: ordered) == .yes)
        #expect(truth(#"{"t":"äpfel"}"#, ("t", "gt.zebra"), types: ordered) == .yes)
        #expect(truth(#"{"t":"apple"}"#, ("t", "lte.apple"), types: plain) == .yes)
        #expect(truth(#"{"t":"apple"}"#, ("t", "lte.apples"), types: plain) == .unknown)
    }

    @Test func citextIgnoresTheCaseOfASCIIOnly() {
        let types = TableTypes(columns: ["t": .citext], patternEvaluation: .ascii)
        #expect(truth(#"{"t":"Bob"}"#, ("t", "eq.BOB"), types: types) == .yes)
        #expect(truth(#"{"t":"Bob"}"#, ("t", "like.b%"), types: types) == .yes)
        #expect(truth(#"{"t":"É"}"#, ("t", "eq.é"), types: types) == .unknown)
    }

    @Test func timesWithoutOffsetAreUnknownInAnUnknownSessionZone() {
        var types = TableTypes(columns: ["at": .timestamptz])
        let row = #"{"at":"2024-02-29T14:00:00+02:00"}"#
        #expect(truth(row, ("at", "eq.2024-02-29T12:00:00"), types: types) == .yes)
        types.isSessionZoneUTC = false
        #expect(truth(row, ("at", "eq.2024-02-29T12:00:00"), types: types) == .unknown)
        #expect(truth(row, ("at", "eq.2024-02-29T12:00:00Z"), types: types) == .yes)
    }

    @Test func anUnknownTypeDecidesOnlyTestsForNull() {
        let types = TableTypes(columns: ["g": KizunaColumnType(rawValue: "geometry(Point,4326)")])
        #expect(truth(#"{"g":"0101"}"#, ("g", "eq.0101"), types: types) == .unknown)
        #expect(truth(#"{"g":"0101"}"#, ("g", "not.is.null"), types: types) == .yes)
        #expect(truth(#"{"g":null}"#, ("g", "eq.0101"), types: types) == .null)
    }

    @Test func allSpellingsOfATypeNameAreEqual() {
        let spellings = [
            "bigint": "int8", "INTEGER": "int4", "character varying(10)": "varchar", "numeric(12,2)": "numeric",
            "timestamp(3) with time zone": "timestamptz", "_text": "text[]", "uuid[]": "uuid[]",
            "double precision": "float8", "character(5)": "bpchar", "public.mood": "public.mood",
        ]
        for (spelling, name) in spellings { #expect(KizunaColumnType(rawValue: spelling).rawValue == name) }
        let mood = KizunaColumnType.enumeration(["sad", "o\"k"])
        #expect(KizunaColumnType(rawValue: mood.rawValue) == mood)
        #expect(KizunaColumnType(rawValue: KizunaColumnType.text.byteOrdered.rawValue) == .text.byteOrdered)
        #expect(KizunaColumnType.array(of: .int4) == KizunaColumnType(rawValue: "int[]"))
    }

    // MARK: - Parsing

    @Test func textsThatTheServerRejectsAreUnknown() {
        let row = #"{"a":1,"b":2}"#
        for (name, value) in [
            ("a", "1"), ("a", "xx.1"), ("a", "not.not.eq.1"), ("a", "neq(any).{1}"), ("a", "eq(some).1"),
            ("a", "in.1,2"),
            ("a", "is.nil"), ("a", ""), ("or", "()"), ("or", "(a.eq.1"), ("or", "a.eq.1"),
            ("or", "(a.eq.1,xor(b.eq.2))"),
            ("or", "(a.eq.1)x"), ("a.b", "eq.1"), ("a(", "eq.1"), ("", "eq.1"), ("or", "(a.eq.{1}2)"),
            ("x.or", "(a.eq.1)"),
        ] {
            #expect(truth(row, (name, value)) == .unknown, Comment(rawValue: "\(name)=\(value)"))
        }
    }

    @Test func logicTreesAreParsedWithNestingQuotesAndNegation() {
        let row = #"{"a":1,"t":"x,y)","d":{"k":"v w"}}"#
        #expect(truth(row, ("or", #"(a.eq.2,t.eq."x,y)")"#)) == .yes)
        #expect(truth(row, ("or", "( a.eq.2 , and(a.eq.1, a.lt.5 ) )")) == .yes)
        #expect(truth(row, ("not.or", "(a.eq.1,a.eq.2)")) == .no)
        #expect(truth(row, ("and", "(a.not.eq.2,not.or(a.eq.3,a.eq.4),a.in.(1,2))")) == .yes)
        #expect(truth(row, ("or", #"(d->>k.eq."v w")"#)) == .yes)
        #expect(truth(row, ("or", #"(a.eq(any).{2,1},a.is.null)"#)) == .yes)
        #expect(truth(#"{"a.b":1}"#, (#""a.b""#, "eq.1")) == .yes)
        #expect(truth(#"{"a":1}"#, ("a", "in.(1, 2)")) == .yes)
        #expect(truth(#"{"a":1}"#, ("a", "in.()")) == .no)
        #expect(truth(#"{"a":null}"#, ("a", "not.in.()")) == .yes)
    }

    @Test func filtersOnReferencedTablesFilterRowsOnlyWithAnInnerJoin() {
        let row = #"{"id":1}"#
        #expect(truth(row, ("photos.id", "eq.1"), columns: "*,photos(*)") == .yes)
        #expect(truth(row, ("photos.or", "(id.eq.1)"), columns: "*,photos(*)") == .yes)
        #expect(truth(row, ("photos.id", "eq.1"), columns: "*,photos!inner(*)") == .unknown)
        #expect(truth(row, ("id", "eq.2"), columns: "*,photos!inner(*)") == .no)
        #expect(truth(row, ("photos", "not.is.null"), columns: "*,photos(*)") == .unknown)
        #expect(truth(row, ("or", "(photos.is.null,id.eq.1)"), columns: "*,photos()") == .yes)
        #expect(truth(row, ("others.id", "eq.1"), columns: "*,photos(*)") == .unknown)
    }

    @Test func aFilterNamesTheColumnsItReads() {
        let expression = FilterExpression(
            tasks.eq("a", value: 1).or("b.eq.1,not.and(c.is.null,d->x.eq.1)").fts("e", query: "q").request)
        #expect(expression.columns == ["a", "b", "c", "d", "e"])
        #expect(!expression.readsUnknownColumns)
        #expect(FilterExpression(tasks.or("b.xx.1").request).readsUnknownColumns)
        #expect(FilterExpression(tasks.request).isEmpty)
    }

    // MARK: - Keys

    @Test func eqAndInOnTheKeyColumnsGiveThePrimaryKeys() {
        func keys(_ builder: PlainBuilder, _ columns: [String] = ["id"]) -> [String]? {
            FilterExpression(builder.request).pinnedKeys(keyColumns: columns)?.map(\.text)
        }
        #expect(keys(tasks.eq("id", value: 5)) == ["5"])
        #expect(keys(tasks.eq("id", value: Fixed.uuid)) == ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"])
        #expect(keys(tasks.in("id", values: ["a", "b"]).eq("done", value: true)) == ["a", "b"])
        #expect(keys(tasks.in("id", values: [])) == [])
        #expect(keys(tasks.filter("and", operator: "x", value: "")) == nil)
        #expect(keys(tasks.match(["k1": 1, "k2": "one"]), ["k1", "k2"]) == [#"["1","one"]"#])
        #expect(keys(tasks.eq("k1", value: 1), ["k1", "k2"]) == nil)
        for text in [
            "05", "+5", " 5", "5.0", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}", "a0eebc999c0b4ef8bb6d6bb9bd380a11", "",
        ] {
            #expect(keys(tasks.eq("id", value: text)) == nil, Comment(rawValue: text))
        }
        for text in ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "507f1f77bcf86cd799439011", "-NcQ7cD_mT0rjZt8pLqa"] {
            #expect(keys(tasks.eq("id", value: text)) == [text])
        }
        for text in [
            "20240101T120000PST", "20240101T120000123456Z", "1234567890123456789e20", "0xabcdefabcdefabcdefabcdef",
            "1year2months3days4hours:5",
        ] {
            #expect(keys(tasks.eq("id", value: text)) == nil, Comment(rawValue: text))
        }
        #expect(keys(tasks.or("id.eq.5,id.eq.6")) == nil)
        #expect(keys(tasks.not("id", operator: .eq, value: 5)) == nil)
        #expect(keys(tasks.gt("id", value: 5)) == nil)
        #expect(keys(tasks) == nil)
    }

    @Test func aTextKeyColumnGivesEveryValueAsAKey() {
        let types = TableTypes(columns: ["id": .text, "n": .int4])
        for text in ["05", "2024-01-01", " a", "{a}", "", "a0eebc999c0b4ef8bb6d6bb9bd380a11"] {
            let expression = FilterExpression(tasks.eq("id", value: text).request)
            #expect(expression.pinnedKeys(keyColumns: ["id"], types: types)?.map(\.text) == [text])
            let other = FilterExpression(tasks.eq("n", value: text).request)
            #expect(other.pinnedKeys(keyColumns: ["n"], types: types) == nil)
        }
    }
}
