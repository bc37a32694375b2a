import KizunaLocal
import Testing

@Suite struct SelectParserTests {
    @Test func columnsMayHaveAliasesCastsAndPaths() throws {
        let items = try SelectParser.parse(#"id, n:name::text,meta->a->>"b c",*"#)
        #expect(
            items == [
                .field(Field(name: "id"), cast: nil, alias: nil),
                .field(Field(name: "name"), cast: "text", alias: "n"),
                .field(
                    Field(
                        name: "meta",
                        path: [
                            JSONStep(isText: false, operand: .key("a")), JSONStep(isText: true, operand: .key("b c")),
                        ]), cast: nil, alias: nil),
                .all,
            ])
    }

    @Test func nothingSelectsNothingInParticular() throws {
        #expect(try SelectParser.parse("") == [])
    }

    @Test func embeddedResourcesAreReadWithAllTheirMarks() throws {
        let inner: [SelectItem] = [.field(Field(name: "id"), cast: nil, alias: nil)]
        #expect(
            try SelectParser.parse("a:rel!hint!inner(id),...other(*)") == [
                .embed(name: "rel", alias: "a", isSpread: false, inner),
                .embed(name: "other", alias: nil, isSpread: true, [.all]),
            ])
    }

    @Test func aggregatesAreTold() throws {
        #expect(
            try SelectParser.parse("count(),total:price.sum()::int") == [
                .aggregate(function: "count", nil, cast: nil, resultCast: nil, alias: nil),
                .aggregate(
                    function: "sum", Field(name: "price"), cast: nil, resultCast: "int", alias: "total"),
            ])
    }

    @Test(arguments: ["id,", ",id", "id)", "a(b", "id::", "a:b:c", "meta->>--1", "id name!", "rel(a[])"])
    func brokenTextIsRefused(_ text: String) {
        #expect(throws: RestFailure.self) { try SelectParser.parse(text) }
    }

    @Test func theAnswerNameOfAPathIsItsLastKey() {
        let key = JSONStep(isText: false, operand: .key("list"))
        let index = JSONStep(isText: true, operand: .index("0"))
        #expect(Field(name: "meta", path: [key, index]).answerName == "list")
        #expect(Field(name: "tags", path: [index]).answerName == "tags")
    }
}
